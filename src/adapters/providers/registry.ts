import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import type { UpstreamKind } from '../../wire/upstream-kinds.ts'
import { anthropicVendor } from './anthropic/provider.ts'
import { createEchoProvider } from './echo/provider.ts'
import { geminiVendor } from './gemini/provider.ts'
import { createHttpProvider } from './http-provider.ts'
import { secretsOf } from './mask-secrets.ts'
import { chatVendor } from './openai-chat/provider.ts'
import { addressOf } from './openai-chat/servers.ts'
import { responsesVendor } from './openai-responses/provider.ts'
import { createSignatureEnvelope } from './reasoning-signature.ts'
import type { EstimateTokens } from './decoding/usage.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import type { OnQueued } from './network/call-slots.ts'
import type { TimeLimits } from './network/timeouts.ts'
import type { FormatSettings, HttpVendor } from './vendor.ts'

type HttpKind = Exclude<UpstreamKind, 'echo'>

const vendors: Readonly<Record<HttpKind, HttpVendor>> = {
  'openai-chat': chatVendor,
  'openai-responses': responsesVendor,
  anthropic: anthropicVendor,
  gemini: geminiVendor,
}

type KindFacts = {
  /** The name of the vendor in traces; undefined if it depends on the server. */
  readonly systemName: string | undefined
  /** The address of an upstream without `base_url`. Undefined if the kind needs no network. */
  readonly baseUrl?: string
}

/** What other modules need to know about a kind. */
export const kindFacts = (kind: UpstreamKind): KindFacts =>
  kind === 'echo' ? { systemName: 'gatehouse' } : vendors[kind]

/** Whether upstreams of a kind create embeddings. */
export const hasEmbeddings = (kind: UpstreamKind): boolean =>
  kind === 'echo' || vendors[kind].embeddingsPath !== undefined

/** The address that an upstream is called at; undefined if its kind needs no network. */
export function addressOfUpstream({ kind, server, baseUrl }: AddressedUpstream): string | undefined {
  if (kind === 'echo') return undefined
  return baseUrl ?? (server ? addressOf(server) : vendors[kind].baseUrl)
}

export type AddressedUpstream = Pick<FormatSettings, 'server'> & {
  readonly kind: UpstreamKind
  readonly baseUrl?: string | undefined
}

export type ProviderSettings = TimeLimits &
  FormatSettings & {
    readonly name: string
    readonly kind: UpstreamKind
    /** In the form that the vendor's SDK expects. Defaults to the vendor's own address. */
    readonly baseUrl?: string
    readonly maxConcurrent?: number
    readonly queueTimeoutMs?: number
    readonly maxAnswerBytes: number
    readonly sendsSpan?: boolean | undefined
    /** Called for every request, because credentials can be rotated at runtime. Returns the same object while unchanged. */
    readonly credentials: () => UpstreamCredentials
  }

export type UpstreamCredentials = {
  readonly apiKey?: string | undefined
  /** Sent with every call. They override the gateway's own headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type ProviderParts = {
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
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
  const { name, kind } = settings
  if (kind === 'echo') return createEchoProvider(name, parts.estimateTokens)
  const { path, embeddingsPath, modelsPath, readModels, baseUrl: vendorUrl, auth, formatAt } = vendors[kind]
  const baseUrl = addressOfUpstream(settings) ?? vendorUrl
  const url = urlOf(baseUrl, path)
  const modelsUrl = urlOf(baseUrl, modelsPath)
  const headers = createHeaders(settings.credentials, auth)
  const embeddingsUrl = embeddingsPath === undefined ? undefined : urlOf(baseUrl, embeddingsPath)
  const httpSettings = { ...settings, url, embeddingsUrl, modelsUrl, readModels, headers }
  const secrets = parts.secrets ?? (() => secretsOf(settings.credentials(), settings.baseUrl))
  const httpParts = { ...parts, secrets, signatureEnvelope: createSignatureEnvelope(parts.signatureKeys) }
  return createHttpProvider(formatAt(url, settings), httpSettings, httpParts)
}

/** Accepts base URLs with and without the version that `path` starts with. Keeps a query string, which Azure needs. */
function urlOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl)
  const base = url.pathname.replace(/\/+$/, '')
  const [pathname = '', query] = path.split('?')
  const [, version = ''] = /^(\/v\d\w*)\//.exec(pathname) ?? []
  url.pathname = base + (base.endsWith(version) ? pathname.slice(version.length) : pathname)
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value)
  return url
}

function createHeaders(credentials: ProviderSettings['credentials'], auth: HttpVendor['auth']) {
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
  auth: HttpVendor['auth'],
): Readonly<Record<string, string>> {
  const configured = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const defaults = { 'content-type': 'application/json', 'user-agent': 'gatehouse', ...(apiKey && auth(apiKey)) }
  return { ...defaults, ...Object.fromEntries(configured) }
}
