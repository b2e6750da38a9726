import type { components } from '../../api/schema.d.ts'
import type { CatalogueModel, Upstream } from './queries.ts'

export type NewUpstream = components['schemas']['UpstreamCreate']

/** An upstream while it is being entered. Empty texts are left out of the request. */
export type UpstreamDraft = {
  readonly name: string
  readonly kind: NewUpstream['kind']
  readonly server: string
  readonly baseUrl: string
  readonly apiKey: string
}

export const emptyUpstream: UpstreamDraft = { name: '', kind: 'openai-chat', server: '', baseUrl: '', apiKey: '' }

export function draftOfUpstream({ name, settings }: Upstream): UpstreamDraft {
  const value = (field: string): string => textIn(settings ?? {}, field)
  return {
    name,
    kind: value('kind') as NewUpstream['kind'],
    server: value('server'),
    baseUrl: value('base_url'),
    apiKey: value('api_key'),
  }
}

/** The fields of the request. A field that was emptied is null in a change, which gives it its default. */
export const upstreamFields = (
  { kind, server, baseUrl, apiKey }: UpstreamDraft,
  empty?: null,
): Readonly<Record<string, string | null>> => ({
  kind,
  ...fieldOf('server', kind === 'openai-chat' ? server : '', empty),
  ...fieldOf('base_url', baseUrl.trim(), empty),
  ...fieldOf('api_key', apiKey.trim(), empty),
})

const fieldOf = (name: string, value: string, empty: null | undefined): Record<string, string | null> =>
  value !== '' ? { [name]: value } : empty === null ? { [name]: null } : {}

/** A target while it is being entered. An empty model is the name that the caller sends. */
export type TargetDraft = { readonly upstream: string; readonly model: string }

/** A model while it is being entered. Empty numbers are left out of the request. */
export type ModelDraft = {
  readonly name: string
  readonly targets: readonly TargetDraft[]
  readonly input: string
  readonly output: string
  readonly cacheRead: string
  readonly cacheWrite: string
  readonly contextTokens: string
  readonly maxOutputTokens: string
}

export const emptyModel = (upstream: string): ModelDraft => ({
  name: '',
  targets: [{ upstream, model: '' }],
  input: '',
  output: '',
  cacheRead: '',
  cacheWrite: '',
  contextTokens: '',
  maxOutputTokens: '',
})

export function draftOfModel({ name, targets, settings }: CatalogueModel): ModelDraft {
  const price = (settings?.['price'] ?? {}) as Readonly<Record<string, unknown>>
  return {
    name,
    targets: targets.map(({ upstream, model }) => ({ upstream, model: model === name ? '' : model })),
    input: textIn(price, 'input'),
    output: textIn(price, 'output'),
    cacheRead: textIn(price, 'cache_read'),
    cacheWrite: textIn(price, 'cache_write'),
    contextTokens: textIn(settings ?? {}, 'context_tokens'),
    maxOutputTokens: textIn(settings ?? {}, 'max_output_tokens'),
  }
}

/** The fields of the request. `empty: null` gives a field that was emptied its default. */
export function modelFields(draft: ModelDraft, empty?: null) {
  const number = (name: string, value: string): Record<string, number | null> =>
    value.trim() !== '' ? { [name]: Number(value) } : empty === null ? { [name]: null } : {}
  const price = {
    ...number('input', draft.input),
    ...number('output', draft.output),
    ...number('cache_read', draft.cacheRead),
    ...number('cache_write', draft.cacheWrite),
  }
  return {
    targets: draft.targets.map(({ upstream, model }) => ({
      upstream,
      ...(model.trim() !== '' && { model: model.trim() }),
    })),
    ...number('context_tokens', draft.contextTokens),
    ...number('max_output_tokens', draft.maxOutputTokens),
    ...(Object.keys(price).length > 0 && { price }),
  }
}

function textIn(settings: Readonly<Record<string, unknown>>, field: string): string {
  const value = settings[field]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The list with the item at one position moved up. */
export const movedUp = <Item>(items: readonly Item[], at: number): readonly Item[] =>
  items.map((item, position) =>
    position === at - 1 ? (items[at] ?? item) : position === at ? (items[at - 1] ?? item) : item,
  )
