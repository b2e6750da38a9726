import type { Model } from '../../domain/inference/catalogue.ts'
import { noFieldRoles } from '../../domain/inference/field-roles.ts'
import { translatedFormat } from '../../domain/inference/formats.ts'
import type { ListedModel, Provider, ProviderCall } from '../../domain/inference/provider.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { chatModelOf } from './models.ts'

/** Long enough for a server on this machine that first has to load a small model. */
export const answerTimeoutMs = 20_000

type Candidates = {
  readonly upstream: { readonly name: string }
  /** The entries of the catalogue that use it. */
  readonly served: readonly Model[]
  readonly example?: string | undefined
}

/** A model with a full name if the catalogue has one, otherwise one that the upstream lists. */
export function modelToAsk(
  { upstream, served, example }: Candidates,
  listed: readonly ListedModel[] = [],
): string | undefined {
  const chatModels = served.filter(({ operations }) => operations?.includes('chat') !== false)
  const targets = chatModels.flatMap(({ name, targets: all }) =>
    all.filter((target) => target.upstream === upstream.name).map(({ model }) => ({ entry: name, model })),
  )
  const named = targets.find(({ model }) => !model.endsWith('*'))
  if (named !== undefined) return named.model
  const fits = ({ name }: ListedModel): boolean => targets.some(({ entry }) => name.startsWith(entry.slice(0, -1)))
  return example ?? chatModelOf(listed.filter(fits).map(({ name }) => name))
}

/** The cheapest call that shows whether requests succeed. */
export function oneTokenCall(
  provider: Provider,
  { model, requestId, signal }: Pick<ProviderCall, 'model' | 'requestId' | 'signal'>,
): ProviderCall {
  const request: InferenceRequest = {
    model,
    stream: false,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    maxOutputTokens: 1,
    stop: [],
    tools: [],
    flaggedCategories: [],
    raw: { dialect: translatedFormat(provider), body: {}, headers: {}, roles: noFieldRoles },
  }
  const limits = { outputLimit: { tokens: 1, isExplicit: true }, mayQueue: false }
  return { request, model, ...limits, requestId, signal, onDropped: () => {} }
}
