import type { FieldRoles } from './field-roles.ts'

/**
 * Our own language for what a caller asks of a model. Every dialect is decoded into it at the door,
 * and every upstream's words are written from it: n + m translators instead of n x m.
 */

/** The wire languages that callers and upstreams speak. */
export type Dialect = 'messages' | 'responses' | 'chat'

export type InferenceRequest = {
  /** The name the caller used; the catalogue turns it into upstream models. */
  readonly model: string
  readonly stream: boolean
  /** System text stands in the list as messages of its own, in the caller's order. */
  readonly messages: readonly Message[]
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop: readonly string[]
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly reasoning?: Reasoning
  readonly outputFormat?: OutputFormat
  /** The end user on whose behalf the caller asks. */
  readonly user?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** Extra categories the caller wants blocked. */
  readonly flaggedCategories: readonly string[]
  readonly original: RawRequest
}

/** The request as it came, for an upstream that speaks the same dialect: it then gets every field untouched. */
export type RawRequest = {
  readonly dialect: Dialect
  readonly body: Readonly<Record<string, unknown>>
  /** The few caller headers that belong to the dialect: `anthropic-version`, `anthropic-beta`. */
  readonly headers: Readonly<Record<string, string>>
  /** What the fields of the body hold. */
  readonly roles: FieldRoles
}

export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly parts: readonly ContentPart[] }

export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cache?: CacheMarker }
  | { readonly type: 'image'; readonly source: Source; readonly detail?: string; readonly cache?: CacheMarker }
  | { readonly type: 'file'; readonly source: Source; readonly name?: string; readonly cache?: CacheMarker }
  | { readonly type: 'thinking'; readonly text: string; readonly proof?: ReasoningSignature }
  /** `input` stays the JSON text it was: parsed only where a dialect needs an object. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: string }
  | {
      readonly type: 'tool-result'
      readonly id: string
      readonly parts: readonly ContentPart[]
      readonly isError: boolean
      readonly cache?: CacheMarker
    }
  | { readonly type: 'refusal'; readonly text: string }
  /** A block only its own dialect understands; forwarded there untouched, an error or a listed loss elsewhere. */
  | { readonly type: 'opaque'; readonly dialect: Dialect; readonly raw: unknown }

export type Source =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string }

export type CacheMarker = { readonly ttl?: string }

/** What an upstream needs back to trust thinking it produced earlier. Opaque to us. */
export type ReasoningSignature = {
  readonly dialect: Dialect
  /** `signature` (messages) or `encrypted_content` (responses). */
  readonly value: string
  /** The upstream's id of the item, where it has one. */
  readonly id?: string
  /** True for thinking that came back encrypted as a whole (`redacted_thinking`). */
  readonly redacted?: boolean
}

export type Tool =
  | {
      readonly type: 'function'
      readonly name: string
      readonly description?: string
      readonly parameters: Readonly<Record<string, unknown>>
      readonly strict?: boolean
      readonly cache?: CacheMarker
    }
  /** A tool the vendor itself runs (web search and the like), or one only its dialect can name. */
  | { readonly type: 'opaque'; readonly dialect: Dialect; readonly name: string; readonly raw: unknown }

export type ToolChoice =
  | { readonly type: 'auto' | 'required' | 'none' }
  | { readonly type: 'tool'; readonly name: string }

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

export type Reasoning = {
  readonly effort?: Effort
  readonly budgetTokens?: number
  /** The caller wants to see a summary of the reasoning. */
  readonly visible?: boolean
}

export type OutputFormat =
  | { readonly type: 'json-object' }
  | {
      readonly type: 'json-schema'
      readonly name: string
      readonly schema: Readonly<Record<string, unknown>>
      readonly strict?: boolean
    }
