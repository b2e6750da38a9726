import { Fault, isFault, isUpstreamFault, messageOf } from '../../base/fault.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { UpstreamHealth } from '../../domain/inference/health.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import type { UpstreamProbe, UpstreamTest } from '../../domain/inference/upstream-status.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { answerTimeoutMs, modelToAsk, oneTokenCall } from './one-token-call.ts'
import type { EffectiveUpstream } from './upstreams.ts'

/** An upstream with what calls it. */
export type WatchedUpstream = {
  readonly upstream: EffectiveUpstream
  readonly provider: Provider
  readonly health: UpstreamHealth
  /** The entries of the catalogue that use it. */
  readonly served: readonly Model[]
  readonly example?: string | undefined
}

/** The calls with which administrators find out whether an upstream works. */
export function createUpstreamCalls({ clock, ids, live }: Pick<Infrastructure, 'clock' | 'ids' | 'live'>) {
  const call = async (watched: WatchedUpstream, fixedModel?: string): Promise<UpstreamProbe> => {
    const { upstream, provider, health: seen } = watched
    const { name } = upstream
    const timeout = new AbortController()
    const cancel = clock.after(answerTimeoutMs, () => timeout.abort(tooLate))
    const { signal } = timeout
    const startedAtMs = clock.monotonicMs()
    const tookMs = (): number => Math.round(clock.monotonicMs() - startedAtMs)
    let model = fixedModel
    try {
      model ??= modelToAsk(watched) ?? modelToAsk(watched, await provider.listModels?.(signal))
      if (model === undefined) throw noModel
      for await (const _ of provider.infer(oneTokenCall(provider, { model, requestId: ids('req'), signal })));
      seen.succeeded(name, tookMs())
      return { model, tookMs: tookMs(), error: null }
    } catch (error) {
      if (isUpstreamFault(error)) seen.failed(name, error.code)
      return { model: model ?? null, tookMs: tookMs(), error: errorOf(upstream, error) }
    } finally {
      cancel()
    }
  }

  /** The models that an upstream lists, or why it did not list them. */
  const listOf = async ({ upstream, provider }: WatchedUpstream): Promise<Omit<UpstreamTest, 'model'>> => {
    const startedAtMs = clock.monotonicMs()
    const tookMs = (): number => Math.round(clock.monotonicMs() - startedAtMs)
    const timeout = new AbortController()
    const cancel = clock.after(listTimeoutMs, () => timeout.abort(tooLate))
    try {
      const listed = (await provider.listModels?.(timeout.signal)) ?? []
      return { tookMs: tookMs(), error: null, models: listed.map(({ name }) => name) }
    } catch (error) {
      return { tookMs: tookMs(), error: errorOf(upstream, error), models: [] }
    } finally {
      cancel()
    }
  }

  const errorOf = (upstream: EffectiveUpstream, error: unknown): UpstreamProbe['error'] => ({
    code: isFault(error) ? error.code : 'internal_error',
    message: withoutSecrets(upstream, error),
  })

  /** An upstream may repeat its credentials, or the address that was called, in the text of an error. */
  const withoutSecrets = ({ field, ...upstream }: EffectiveUpstream, error: unknown): string => {
    const secrets = [
      live.read(`${field}.api_key`, upstream.api_key) ?? '',
      ...Object.entries(upstream.headers ?? {}).map(([name, value]) => live.read(`${field}.headers.${name}`, value)),
      ...secretsInUrl(upstream.base_url),
    ].filter((secret) => secret !== '')
    return secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), messageOf(error))
  }

  return { call, listOf }
}

/** A list is short, so a server that does not send it by then has none. */
const listTimeoutMs = 10_000

/** Shorter parts of a path are words such as `v1` and `deployments`. */
const shortestKey = 12

/** The parts of a URL that may be a credential. */
function secretsInUrl(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return []
  const { password, pathname, searchParams } = new URL(address)
  const keys = [...pathname.split('/'), ...searchParams.values()].filter(({ length }) => length >= shortestKey)
  return [password, ...keys]
}

const tooLate = new Fault('upstream_timeout', 'upstream_timeout', 'The upstream did not answer in time.')
const noModel = new Fault(
  'not_found',
  'model_not_found',
  'No model of this upstream is known: name one under models in the configuration.',
)
