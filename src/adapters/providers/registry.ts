import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import { messagesFormat } from './anthropic/provider.ts'
import { createEchoProvider } from './echo/provider.ts'
import type { WireFormat } from './http-provider.ts'
import { createHttpProvider } from './http-provider.ts'
import type { ChatFlags } from './openai-chat/flags.ts'
import { openServerFlags, openaiFlags } from './openai-chat/flags.ts'
import { chatFormat } from './openai-chat/provider.ts'
import { responsesFormat } from './openai-responses/provider.ts'
import { createSignatureEncryption } from './reasoning-signature.ts'
import type { EstimateTokens } from './decoding/usage.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import type { TimeLimits } from './network/timeouts.ts'

export const providerKinds = ['openai-chat', 'openai-responses', 'anthropic', 'echo'] as const
export type ProviderKind = (typeof providerKinds)[number]

export type ProviderSettings = TimeLimits & {
  readonly name: string
  readonly kind: ProviderKind
  /** As the vendor's own SDK would be given it; the vendor itself when left out. */
  readonly baseUrl?: string
  readonly maxConcurrent?: number
  readonly maxAnswerBytes: number
  /** Asked for with every call: they may change while the service runs. The same object stands for the same ones. */
  readonly credentials: () => UpstreamCredentials
  /** Where a chat server differs from what is assumed of its kind. */
  readonly chatFlags?: Partial<ChatFlags>
}

export type UpstreamCredentials = {
  readonly apiKey?: string | undefined
  /** Sent with every call; one that we would send too is sent as it stands here. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type ProviderParts = {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly estimateTokens: EstimateTokens
  /** Seal the proofs that callers of another dialect carry for us: the first seals, all open. */
  readonly proofKeys: () => readonly Uint8Array[]
  /** What the answers of all upstreams may hold in memory. */
  readonly answerMemory: AnswerMemoryBudget
}

/** The upstream of these settings, whatever its kind. */
export function createProvider(settings: ProviderSettings, parts: ProviderParts): Provider {
  const { name, kind, chatFlags } = settings
  if (kind === 'echo') return createEchoProvider(name, parts.estimateTokens)
  const { path, baseUrl, auth } = addresses[kind]
  const url = urlOf(settings.baseUrl ?? baseUrl, path)
  const httpSettings = { ...settings, url, headers: createHeaders(settings.credentials, auth) }
  const httpParts = { ...parts, proofSeal: createSignatureEncryption(parts.proofKeys) }
  return createHttpProvider(familyOf(kind, url, chatFlags), httpSettings, httpParts)
}

type HttpKind = Exclude<ProviderSettings['kind'], 'echo'>

type Address = {
  readonly baseUrl: string
  readonly path: string
  readonly auth: (apiKey: string) => Readonly<Record<string, string>>
}

const bearer: Address['auth'] = (apiKey) => ({ authorization: `Bearer ${apiKey}` })

const addresses: Readonly<Record<HttpKind, Address>> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    path: '/v1/messages',
    auth: (apiKey) => ({ 'x-api-key': apiKey }),
  },
  'openai-chat': { baseUrl: 'https://api.openai.com/v1', path: '/chat/completions', auth: bearer },
  'openai-responses': { baseUrl: 'https://api.openai.com/v1', path: '/responses', auth: bearer },
}

/** Some write Anthropic's base address with its version and some without. A query, such as Azure's, stays. */
function urlOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl)
  const base = url.pathname.replace(/\/+$/, '')
  url.pathname = base + (base.endsWith('/v1') ? path.replace(/^\/v1/, '') : path)
  return url
}

function createHeaders(credentials: ProviderSettings['credentials'], auth: Address['auth']) {
  let last = credentials()
  let headers = headersOf(last, auth)
  return (): Readonly<Record<string, string>> => {
    const current = credentials()
    if (current !== last) headers = headersOf(current, auth)
    last = current
    return headers
  }
}

function headersOf(
  { apiKey, headers = {} }: UpstreamCredentials,
  auth: Address['auth'],
): Readonly<Record<string, string>> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const own = { 'content-type': 'application/json', 'user-agent': 'gatehouse', ...(apiKey && auth(apiKey)) }
  return { ...own, ...Object.fromEntries(given) }
}

function familyOf(kind: HttpKind, url: URL, chatFlags: Partial<ChatFlags> | undefined): WireFormat {
  const isOpenai = url.hostname === 'api.openai.com' || url.hostname.endsWith('.openai.azure.com')
  switch (kind) {
    case 'anthropic':
      return messagesFormat({ isVendor: url.hostname.endsWith('.anthropic.com') })
    case 'openai-chat':
      return chatFormat({ ...(isOpenai ? openaiFlags : openServerFlags), ...chatFlags })
    case 'openai-responses':
      return responsesFormat({ searchesWeb: isOpenai })
  }
}
