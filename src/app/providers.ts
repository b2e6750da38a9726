import { getHeapStatistics } from 'node:v8'
import { Agent } from 'undici'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Provider } from '../domain/inference/provider.ts'
import { estimateTokens } from '../domain/inference/count.ts'
import { openaiFlags, type ChatFlags } from '../adapters/providers/openai-chat/flags.ts'
import { createAnswerMemoryBudget } from '../adapters/providers/network/answer-memory-budget.ts'
import { createProvider, type ProviderSettings, type UpstreamCredentials } from '../adapters/providers/registry.ts'
import type { LiveValues } from './live-values.ts'
import type { EffectiveUpstream } from './upstreams.ts'

export type Providers = AsyncDisposable & { readonly byName: ReadonlyMap<string, Provider> }

export type ProvidersParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly signatureKeys: () => readonly Uint8Array[]
  readonly live: LiveValues
}

/** Enough for a few of the longest answers, however little memory there is. */
const leastAnswerBytes = 64 * 1024 * 1024
/** An answer that is read, translated and written again takes some times its own length. */
const answerShare = 1 / 8

/** One provider per upstream, each with connections of its own: one that hangs cannot starve the others. */
export function createProviders(upstreams: readonly EffectiveUpstream[], parts: ProvidersParts): Providers {
  const agents: Agent[] = []
  const answerBytes = Math.max(leastAnswerBytes, getHeapStatistics().heap_size_limit * answerShare)
  const answerMemory = createAnswerMemoryBudget(answerBytes)
  const byName = new Map(
    upstreams.map((upstream) => {
      const dispatcher = new Agent({
        connect: { timeout: upstream.connect_timeout_ms },
        keepAliveTimeout: 30_000,
        pipelining: 1,
        allowH2: false,
      })
      agents.push(dispatcher)
      const made = (kind: ProviderSettings['kind']): Provider =>
        createProvider(settingsOf(upstream, kind, parts.live), { ...parts, dispatcher, estimateTokens, answerMemory })
      return [upstream.name, upstream.kind === 'both-openai' ? bothOpenai(upstream.name, made) : made(upstream.kind)]
    }),
  )
  return {
    byName,
    async [Symbol.asyncDispose]() {
      await Promise.all(agents.map((agent) => agent.destroy()))
    },
  }
}

/** OpenAI itself speaks both of its dialects: each caller is answered in its own, everyone else through the newer. */
function bothOpenai(name: string, made: (kind: ProviderSettings['kind']) => Provider): Provider {
  const chat = made('openai-chat')
  const responses = made('openai-responses')
  return {
    name,
    dialect: undefined,
    infer: (call) => (call.request.raw.dialect === 'chat' ? chat : responses).infer(call),
  }
}

/** The key and headers as their files say now, built again only where one of them changed. */
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
    chatFlags: chatFlagsOf(upstream),
    timeoutMs: upstream.timeout_ms,
    connectTimeoutMs: upstream.connect_timeout_ms,
    firstByteTimeoutMs: upstream.first_byte_timeout_ms,
    idleTimeoutMs: upstream.idle_timeout_ms,
    maxConcurrent: upstream.max_concurrent,
    maxAnswerBytes: upstream.max_answer_bytes,
  }
}

/** Where a chat server differs from what is assumed of its kind. */
const chatFlagsOf = (upstream: EffectiveUpstream): Partial<ChatFlags> => ({
  ...(upstream.takes_effort !== undefined && { efforts: upstream.takes_effort ? openaiFlags.efforts : [] }),
  ...(upstream.takes_reasoning !== undefined && { takesReasoning: upstream.takes_reasoning }),
  ...(upstream.streams !== undefined && { streams: upstream.streams }),
})
