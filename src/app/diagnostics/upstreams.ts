import { systemClock } from '../../base/clock.ts'
import { isFault, messageOf } from '../../base/fault.ts'
import { createIds } from '../../base/ids.ts'
import { createMetrics } from '../../base/metrics.ts'
import { systemRandom } from '../../base/random.ts'
import type { Config, Environment } from '../../config/config.ts'
import { fileValuesOf } from '../../config/file-values.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { ListedModel, Provider } from '../../domain/inference/provider.ts'
import { connectTimeoutMs, tryConnect, type Diagnosis } from './diagnosis.ts'
import { createLiveValues } from '../live-values.ts'
import { answerTimeoutMs, modelToAsk, oneTokenCall } from '../upstreams/one-token-call.ts'
import { createProviders } from '../upstreams/providers.ts'
import {
  effectiveModels,
  effectiveUpstreams,
  exampleOf,
  factsOfKind,
  type EffectiveUpstream,
} from '../upstreams/upstreams.ts'

export type UpstreamCheckOptions = {
  /** Makes no network call. */
  readonly isOffline: boolean
}

/** Asks each upstream for one token of one of its models, because only a real call shows that requests succeed. */
export async function checkUpstreams(
  config: Config,
  env: Environment,
  { isOffline }: UpstreamCheckOptions,
): Promise<Diagnosis[]> {
  const upstreams = effectiveUpstreams(config, env)
  const models = effectiveModels(config, env, systemClock.nowMs())
  const live = createLiveValues(fileValuesOf(config), { warn() {}, info() {} })
  const ids = createIds(systemClock, systemRandom)
  const key = systemRandom.bytes(32)
  await using providers = createProviders(upstreams.map(withShortTimeouts), {
    clock: systemClock,
    ids,
    signatureKeys: () => [key],
    live,
    metrics: createMetrics(),
  })
  const checks = upstreams.map(async (upstream): Promise<Diagnosis> => {
    const provider = providers.byName.get(upstream.name)
    if (provider === undefined || upstream.kind === 'echo' || isOffline) return notAsked(upstream, isOffline)
    const served = models.filter(({ targets }) => targets.some((target) => target.upstream === upstream.name))
    return checkUpstream({ upstream, provider, served, example: exampleOf(upstream.name, config, env) })
  })
  return [...unknownUpstreams(config, upstreams), ...(await Promise.all(checks))]
}

const withShortTimeouts = (upstream: EffectiveUpstream): EffectiveUpstream => ({
  ...upstream,
  timeout_ms: answerTimeoutMs,
  first_byte_timeout_ms: answerTimeoutMs,
  connect_timeout_ms: connectTimeoutMs,
})

function unknownUpstreams(config: Config, upstreams: readonly EffectiveUpstream[]): Diagnosis[] {
  const known = new Set(upstreams.map(({ name }) => name))
  return config.models.flatMap((model) =>
    model.targets
      .filter(({ upstream }) => !known.has(upstream))
      .map(({ upstream }) => ({
        part: `model ${model.name}`,
        state: 'wrong',
        message: `its upstream ${upstream} is not configured`,
        fix: `Add it to upstreams; there are: ${[...known].join(', ') || 'none'}.`,
      })),
  )
}

const partOf = ({ name }: EffectiveUpstream): string => `upstream ${name}`

function notAsked(upstream: EffectiveUpstream, isOffline: boolean): Diagnosis {
  const where = upstream.kind === 'echo' ? 'built in' : (upstream.base_url ?? 'at its usual address')
  const message = `${upstream.kind}, ${where}${isOffline && upstream.kind !== 'echo' ? '; not asked (--offline)' : ''}`
  return { part: partOf(upstream), state: 'ok', message }
}

type UpstreamCheck = {
  readonly upstream: EffectiveUpstream
  readonly provider: Provider
  /** The entries of the catalogue that use it. */
  readonly served: readonly Model[]
  readonly example: string | undefined
}

async function checkUpstream(check: UpstreamCheck): Promise<Diagnosis> {
  const { upstream, provider } = check
  const part = partOf(upstream)
  const unreachable = await checkConnection(upstream)
  if (unreachable !== undefined) return unreachable
  const listed = await provider.listModels?.(AbortSignal.timeout(answerTimeoutMs)).catch(() => undefined)
  const model = modelToAsk(check, listed)
  if (model === undefined) return noModel(check, listed)
  try {
    const requestId = createIds(systemClock, systemRandom)('req')
    const signal = AbortSignal.timeout(answerTimeoutMs)
    for await (const _ of provider.infer(oneTokenCall(provider, { model, requestId, signal })));
  } catch (error) {
    return explain(error, { upstream, model, listed })
  }
  const tooSmall = contextProblem(
    check,
    listed?.find(({ name }) => name === model),
  )
  return { part, state: 'ok', message: `${upstream.kind}, the model ${model} answers`, ...tooSmall }
}

/** Only for a configured address: a vendor may have to be reached through a proxy. */
async function checkConnection(upstream: EffectiveUpstream): Promise<Diagnosis | undefined> {
  if (upstream.base_url === undefined) return undefined
  const url = new URL(upstream.base_url)
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const failure = await tryConnect(url.hostname.replace(/^\[|\]$/g, ''), port)
  if (failure === undefined) return undefined
  return {
    part: partOf(upstream),
    state: 'wrong',
    message: `${url.origin} cannot be reached (${failure})`,
    fix: 'Is the server running, is base_url right, and may this machine reach it?',
  }
}

function noModel({ upstream, served }: UpstreamCheck, listed: readonly ListedModel[] | undefined): Diagnosis {
  const part = partOf(upstream)
  if (served.length === 0) return { part, state: 'ok', message: `${upstream.kind}, not asked: no model uses it` }
  if (listed === undefined) {
    const fix = `${addressHint(upstream)}Name its models under models to ask one of them.`
    return { part, state: 'warning', message: 'it answers, but not with a list of its models', fix }
  }
  const message = listed.length === 0 ? 'it has no models' : 'it has no model that an entry under models matches'
  const fix = listed.length === 0 ? 'Load or pull a model there.' : `It has: ${namesOf(listed)}.`
  return { part, state: 'warning', message, fix }
}

const namesOf = (listed: readonly ListedModel[]): string =>
  listed
    .slice(0, 5)
    .map(({ name }) => name)
    .join(', ') + (listed.length > 5 ? ' and more' : '')

type FailedCall = {
  readonly upstream: EffectiveUpstream
  readonly model: string
  readonly listed: readonly ListedModel[] | undefined
}

function explain(error: unknown, { upstream, model, listed }: FailedCall): Diagnosis {
  const part = partOf(upstream)
  const message = `the model ${model} does not answer: ${messageOf(error)}`
  const kind = isFault(error) ? error.kind : 'internal'
  if (kind === 'upstream_timeout' || (error instanceof Error && error.name === 'TimeoutError'))
    return { part, state: 'warning', message, fix: 'It may still be loading the model: try again in a minute.' }
  if (kind === 'upstream_overloaded')
    return { part, state: 'warning', message, fix: 'Try again later, or check the quota of the key.' }
  if (isFault(error) && error.code === 'upstream_quota_exhausted')
    return { part, state: 'wrong', message, fix: `Add credit to the account of ${upstream.name}, or raise its quota.` }
  if (isFault(error) && error.details.isPermanent)
    return { part, state: 'wrong', message, fix: `Set api_key of ${upstream.name} to a key that the upstream accepts.` }
  const isMissing = listed !== undefined && listed.length > 0 && !listed.some(({ name }) => nameMatches(name, model))
  if (isMissing) return { part, state: 'wrong', message, fix: `It has: ${namesOf(listed)}.` }
  return { part, state: 'wrong', message, fix: `${addressHint(upstream)}The log of that server may say more.` }
}

/** Ollama accepts a name without its tag. */
const nameMatches = (listed: string, model: string): boolean => listed === model || listed === `${model}:latest`

/** The most frequent mistake is a base URL without the `/v1` that the vendor's own has. */
function addressHint(upstream: EffectiveUpstream): string {
  const { base_url: baseUrl } = upstream
  const { baseUrl: vendorUrl } = factsOfKind(upstream)
  if (baseUrl === undefined || vendorUrl === undefined) return ''
  const version = new URL(vendorUrl).pathname
  if (version === '/' || /\/v\d+\/?$/.test(new URL(baseUrl).pathname)) return ''
  return `base_url usually ends with ${version}: try ${baseUrl.replace(/\/+$/, '')}${version}. `
}

/** Some servers reject a request whose output limit exceeds the context window. */
function contextProblem({ upstream, served }: UpstreamCheck, asked: ListedModel | undefined): Partial<Diagnosis> {
  const context = asked?.contextTokens
  const isTooLong = ({ capsOutput, maxOutputTokens }: Model): boolean =>
    capsOutput && maxOutputTokens >= (context ?? Infinity)
  const entry = served.find(isTooLong)
  if (context === undefined || entry === undefined) return {}
  const message = `${upstream.kind}, the model ${asked?.name} answers, but max_output_tokens of ${entry.name} is ${entry.maxOutputTokens} and its context has only ${context} tokens`
  const fix = `Configure ${entry.name} under models with context_tokens: ${context} and a smaller max_output_tokens.`
  return { state: 'warning', message, fix }
}
