import { getHeapStatistics } from 'node:v8'
import { Agent } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import { estimateTokensOfBytes } from '../../domain/inference/count.ts'
import type { ChatOverrides } from '../../adapters/providers/openai-chat/servers.ts'
import { createAnswerMemoryBudget } from '../../adapters/providers/network/answer-memory-budget.ts'
import type { OnQueued } from '../../adapters/providers/network/call-slots.ts'
import { secretsOf } from '../../adapters/providers/mask-secrets.ts'
import {
  createProvider,
  type ProviderParts,
  type ProviderSettings,
  type UpstreamCredentials,
} from '../../adapters/providers/registry.ts'
import type { LiveValues } from '../live-values.ts'
import type { EffectiveUpstream } from './upstreams.ts'

export type Providers = AsyncDisposable & {
  readonly byName: ReadonlyMap<string, Provider>
  readonly create: CreateProvider
}

/** Creates the provider of an upstream, within the limits that all of them share. */
export type CreateProvider = (upstream: EffectiveUpstream, options: ProviderOptions) => Provider

type ProviderOptions = Pick<ProviderParts, 'dispatcher'> & {
  /** The upstream in metrics, which must have few values. */
  readonly label: string
  /** What must not be repeated to callers. */
  readonly secrets: () => readonly string[]
}

export type ProvidersParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly signatureKeys: () => readonly Uint8Array[]
  readonly live: LiveValues
  readonly metrics: Metrics
}

/** Enough for a few of the longest answers, even on a machine with little memory. */
const minAnswerBytes = 64 * 1024 * 1024
/** Share of the heap for answers: reading, translating and writing an answer takes several times its length. */
const answerShare = 1 / 8

const queueBuckets = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]

/** One provider per upstream, each with its own connection pool, so that one that hangs does not block the others. */
export function createProviders(upstreams: readonly EffectiveUpstream[], parts: ProvidersParts): Providers {
  const agents: Agent[] = []
  const create = createProviderFactory(parts)
  const readSecrets = upstreams.map((upstream) => {
    const credentials = createCredentials(upstream, parts.live)
    return () => secretsOf(credentials(), upstream.base_url)
  })
  const byName = new Map(
    upstreams.map((upstream) => {
      const dispatcher = new Agent({
        connect: { timeout: upstream.connect_timeout_ms },
        keepAliveTimeout: 30_000,
        pipelining: 1,
        allowH2: false,
      })
      agents.push(dispatcher)
      const secrets = (): string[] => readSecrets.flatMap((read) => read())
      return [upstream.name, create(upstream, { dispatcher, label: upstream.name, secrets })]
    }),
  )
  return {
    byName,
    create,
    async [Symbol.asyncDispose]() {
      await Promise.all(agents.map((agent) => agent.destroy()))
    },
  }
}

function createProviderFactory(parts: ProvidersParts): CreateProvider {
  const answerBytes = Math.max(minAnswerBytes, getHeapStatistics().heap_size_limit * answerShare)
  const answerMemory = createAnswerMemoryBudget(answerBytes)
  const onQueued = createQueueMetrics(parts)
  return (upstream, { dispatcher, label, secrets }) => {
    const estimateTokens = estimateTokensOfBytes
    const shared = { ...parts, dispatcher, estimateTokens, answerMemory, secrets, onQueued: onQueued(label) }
    const providerOf = (kind: ProviderSettings['kind']): Provider =>
      createProvider(settingsOf(upstream, kind, parts.live), shared)
    return upstream.kind === 'both-openai' ? bothOpenai(upstream.name, providerOf) : providerOf(upstream.kind)
  }
}

/** How many calls wait for their upstream, and how long they waited. */
function createQueueMetrics({ clock, metrics }: ProvidersParts): (upstream: string) => OnQueued {
  let waiting = 0
  const help = 'Calls that wait because all concurrent calls to their upstream are in use.'
  metrics.gauge('gatehouse_upstream_queue_calls', help, () => waiting)
  const seconds = metrics.histogram('gatehouse_upstream_queue_seconds', 'Time that calls waited for their upstream.', {
    labels: { upstream: 'closed-by-caller', result: ['called', 'gave_up'] },
    buckets: queueBuckets,
  })
  return (upstream) => () => {
    const sinceMs = clock.monotonicMs()
    waiting += 1
    return (hasSlot) => {
      waiting -= 1
      seconds.series({ upstream, result: hasSlot ? 'called' : 'gave_up' })((clock.monotonicMs() - sinceMs) / 1000)
    }
  }
}

/** OpenAI has both of its formats: Chat Completions callers use that API, all others use Responses. */
function bothOpenai(name: string, providerOf: (kind: ProviderSettings['kind']) => Provider): Provider {
  const chat = providerOf('openai-chat')
  const responses = providerOf('openai-responses')
  return {
    name,
    infer: (call) => (call.request.raw.dialect === 'chat' ? chat : responses).infer(call),
    ...(chat.embed && { embed: chat.embed }),
    inFlight: () => (chat.inFlight?.() ?? 0) + (responses.inFlight?.() ?? 0),
    ...(chat.listModels && { listModels: chat.listModels }),
  }
}

/** The current key and headers, read again only if one of their files changed. */
function createCredentials({ field, ...upstream }: EffectiveUpstream, live: LiveValues): () => UpstreamCredentials {
  const read = (): UpstreamCredentials => ({
    apiKey: live.read(`${field}.api_key`, upstream.api_key),
    headers:
      upstream.headers &&
      Object.fromEntries(
        Object.entries(upstream.headers).map(([name, value]) => [name, live.read(`${field}.headers.${name}`, value)]),
      ),
  })
  let version = live.version()
  let credentials = read()
  return () => {
    if (version === live.version()) return credentials
    version = live.version()
    credentials = read()
    return credentials
  }
}

function settingsOf(upstream: EffectiveUpstream, kind: ProviderSettings['kind'], live: LiveValues): ProviderSettings {
  return {
    name: upstream.name,
    kind,
    ...(upstream.base_url === undefined ? {} : { baseUrl: upstream.base_url }),
    credentials: createCredentials(upstream, live),
    server: upstream.server,
    chatOverrides: chatOverridesOf(upstream),
    timeoutMs: upstream.timeout_ms,
    connectTimeoutMs: upstream.connect_timeout_ms,
    firstByteTimeoutMs: upstream.first_byte_timeout_ms,
    idleTimeoutMs: upstream.idle_timeout_ms,
    maxConcurrent: upstream.max_concurrent,
    queueTimeoutMs: upstream.queue_timeout_ms,
    maxAnswerBytes: upstream.max_answer_bytes,
    sendsSpan: upstream.trace,
  }
}

const chatOverridesOf = (upstream: EffectiveUpstream): ChatOverrides => ({
  streams: upstream.streams,
  takesEffort: upstream.takes_effort,
  takesReasoning: upstream.takes_reasoning,
})
