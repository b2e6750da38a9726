import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import { messagesFormat } from './anthropic/provider.ts'
import { createEchoProvider } from './echo/provider.ts'
import type { WireFormat } from './wire-format.ts'
import { createHttpProvider } from './http-provider.ts'
import { secretsOf } from './mask-secrets.ts'
import { chatFormat } from './openai-chat/provider.ts'
import { addressOf, chatFlagsOf, isOpenaiHost, type ChatOverrides, type ChatServer } from './openai-chat/servers.ts'
import { responsesFormat } from './openai-responses/provider.ts'
import { createSignatureEnvelope } from './reasoning-signature.ts'
import type { EstimateTokens } from './decoding/usage.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import type { OnQueued } from './network/call-slots.ts'
import type { TimeLimits } from './network/timeouts.ts'

export const providerKinds = ['openai-chat', 'openai-responses', 'anthropic', 'echo'] as const
export type ProviderKind = (typeof providerKinds)[number]

export type ProviderSettings = TimeLimits & {
  readonly name: string
  readonly kind: ProviderKind
  /** In the form that the vendor's SDK expects. Defaults to the vendor's own address. */
  readonly baseUrl?: string
  readonly maxConcurrent?: number
  readonly queueTimeoutMs?: number
  readonly maxAnswerBytes: number
  readonly sendsSpan?: boolean | undefined
  /** Called for every request, because credentials can be rotated at runtime. Returns the same object while unchanged. */
  readonly credentials: () => UpstreamCredentials
  /** The software of a chat completions server. */
  readonly server?: ChatServer | undefined
  readonly chatOverrides?: ChatOverrides
}

export type UpstreamCredentials = {
  readonly apiKey?: string | undefined
  /** Sent with every call. They override the gateway's own headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type ProviderParts = {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly estimateTokens: EstimateTokens
  /** Keys for the envelopes of reasoning signatures: the first signs, all verify. */
  readonly signatureKeys: () => readonly Uint8Array[]
  /** Limits the memory that the responses of all upstreams use together. */
  readonly answerMemory: AnswerMemoryBudget
  readonly onQueued?: OnQueued
  /** The secrets of all upstreams; by default those of this one. */
  readonly secrets?: () => readonly string[]
}

/** Creates the provider for one configured upstream. */
export function createProvider(settings: ProviderSettings, parts: ProviderParts): Provider {
  const { name, kind, server } = settings
  if (kind === 'echo') return createEchoProvider(name, parts.estimateTokens)
  const { path, models, baseUrl: vendorUrl, auth } = endpoints[kind]
  const baseUrl = settings.baseUrl ?? (server ? addressOf(server) : vendorUrl)
  const url = urlOf(baseUrl, path)
  const modelsUrl = urlOf(baseUrl, models)
  const httpSettings = { ...settings, url, modelsUrl, headers: createHeaders(settings.credentials, auth) }
  const secrets = parts.secrets ?? (() => secretsOf(settings.credentials(), settings.baseUrl))
  const httpParts = { ...parts, secrets, signatureEnvelope: createSignatureEnvelope(parts.signatureKeys) }
  return createHttpProvider(wireFormatOf(url, { ...settings, kind }), httpSettings, httpParts)
}

type HttpKind = Exclude<ProviderSettings['kind'], 'echo'>

type VendorEndpoint = {
  readonly baseUrl: string
  readonly path: string
  /** The path of the model list. */
  readonly models: string
  readonly auth: (apiKey: string) => Readonly<Record<string, string>>
}

const bearer: VendorEndpoint['auth'] = (apiKey) => ({ authorization: `Bearer ${apiKey}` })

const endpoints: Readonly<Record<HttpKind, VendorEndpoint>> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    path: '/v1/messages',
    models: '/v1/models',
    auth: (apiKey) => ({ 'x-api-key': apiKey }),
  },
  'openai-chat': { baseUrl: 'https://api.openai.com/v1', path: '/chat/completions', models: '/models', auth: bearer },
  'openai-responses': { baseUrl: 'https://api.openai.com/v1', path: '/responses', models: '/models', auth: bearer },
}

/** Accepts Anthropic's base URL with and without `/v1`. Keeps a query string, which Azure needs. */
function urlOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl)
  const base = url.pathname.replace(/\/+$/, '')
  url.pathname = base + (base.endsWith('/v1') ? path.replace(/^\/v1/, '') : path)
  return url
}

function createHeaders(credentials: ProviderSettings['credentials'], auth: VendorEndpoint['auth']) {
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
  auth: VendorEndpoint['auth'],
): Readonly<Record<string, string>> {
  const configured = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const defaults = { 'content-type': 'application/json', 'user-agent': 'gatehouse', ...(apiKey && auth(apiKey)) }
  return { ...defaults, ...Object.fromEntries(configured) }
}

function wireFormatOf(url: URL, { kind, server, chatOverrides }: ProviderSettings & { kind: HttpKind }): WireFormat {
  switch (kind) {
    case 'anthropic':
      return messagesFormat({ isVendor: url.hostname.endsWith('.anthropic.com') })
    case 'openai-chat':
      return chatFormat(chatFlagsOf(url, server, chatOverrides))
    case 'openai-responses':
      return responsesFormat({ searchesWeb: isOpenaiHost(url) })
  }
}
