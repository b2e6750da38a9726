import { Fault, isFault, isUpstreamFault, messageOf } from '../../base/fault.ts'
import type { Environment } from '../../config/config.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import { upstreamStateOf, type UpstreamProbe, type Upstreams } from '../../domain/inference/upstream-status.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { ServedModels } from './models.ts'
import { answerTimeoutMs, modelToAsk, oneTokenCall } from './one-token-call.ts'
import { exampleOf, kindOf, upstreamDefinitions, type EffectiveUpstream } from './upstreams.ts'

type WatchParts = Pick<ServedModels, 'models' | 'providers' | 'health'> & { readonly env: Environment }

/** What this node knows of its upstreams, and a call that finds out more. */
export function createUpstreamWatch(
  { clock, config, ids, live, upstreams }: Infrastructure,
  { models, providers, health, env }: WatchParts,
): Upstreams {
  const definitions = upstreamDefinitions(config, env)
  const running = new Map<string, Promise<UpstreamProbe>>()

  const probe = async (upstream: EffectiveUpstream, provider: Provider): Promise<UpstreamProbe> => {
    const { name } = upstream
    const served = models.filter(({ targets }) => targets.some((target) => target.upstream === name))
    const candidates = { upstream, served, example: exampleOf(name, config, env) }
    const timeout = new AbortController()
    const cancel = clock.after(answerTimeoutMs, () => timeout.abort(tooLate))
    const { signal } = timeout
    const startedAtMs = clock.monotonicMs()
    const tookMs = (): number => Math.round(clock.monotonicMs() - startedAtMs)
    let model: string | undefined
    try {
      model = modelToAsk(candidates) ?? modelToAsk(candidates, await provider.listModels?.(signal))
      if (model === undefined) throw noModel
      for await (const _ of provider.infer(oneTokenCall(provider, { model, requestId: ids('req'), signal })));
      health.succeeded(name, tookMs())
      return { model, tookMs: tookMs(), error: null }
    } catch (error) {
      if (isUpstreamFault(error)) health.failed(name, error.code)
      const code = isFault(error) ? error.code : 'internal_error'
      return { model: model ?? null, tookMs: tookMs(), error: { code, message: withoutSecrets(upstream, error) } }
    } finally {
      cancel()
    }
  }

  /** An upstream may repeat its credentials, or the address that was called, in the text of an error. */
  const withoutSecrets = ({ field, ...upstream }: EffectiveUpstream, error: unknown): string => {
    const secrets = [
      live.read(`${field}.api_key`, upstream.api_key) ?? '',
      ...Object.entries(upstream.headers ?? {}).map(([name, value]) => live.read(`${field}.headers.${name}`, value)),
      ...secretsInUrl(upstream.base_url),
    ].filter((secret) => secret !== '')
    return secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), messageOf(error))
  }

  return {
    list: () =>
      upstreams.map((upstream) => {
        const condition = health.conditionOf(upstream.name)
        return {
          ...condition,
          name: upstream.name,
          kind: kindOf(upstream),
          state: upstreamStateOf(condition),
          inFlight: providers.get(upstream.name)?.inFlight?.() ?? 0,
          // Each of its two formats has the whole limit.
          maxConcurrent: upstream.max_concurrent * (upstream.kind === 'both-openai' ? 2 : 1),
          definedIn: definitions.get(upstream.name) ?? { source: 'built_in', file: null, key: null },
        }
      }),
    async probe(name) {
      const upstream = upstreams.find((each) => each.name === name)
      const provider = providers.get(name)
      if (upstream === undefined || provider === undefined)
        throw new Fault('not_found', 'not_found', `There is no upstream ${name}.`, { param: 'upstream' })
      const shared = running.get(name) ?? probe(upstream, provider).finally(() => running.delete(name))
      running.set(name, shared)
      return shared
    },
  }
}

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
