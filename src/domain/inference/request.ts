import type { FieldRoles } from './field-roles.ts'
import type { CallerFormat } from './formats.ts'

/**
 * The gateway's own format for inference requests. Every endpoint decodes its caller format into this one, and
 * every provider encodes it for its vendor. With n caller formats and m vendors that takes n + m translators instead of n x m.
 * `events.ts` is the counterpart for responses.
 */

export type InferenceRequest = {
  /** The model name that the caller sent. The catalogue maps it to upstream models. */
  readonly model: string
  readonly stream: boolean
  /** In the caller's order. System text is a message of its own with the role `system`. */
  readonly messages: readonly Message[]
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  /** Stop strings. */
  readonly stop: readonly string[]
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly reasoning?: Reasoning
  readonly outputFormat?: OutputFormat
  /** The caller's id for its end user. */
  readonly user?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** Content categories that the request blocks in addition to its organization's settings. */
  readonly flaggedCategories: readonly string[]
  readonly raw: RawRequest
}

/** What the requests of all operations have. Of the optional fields, those that only some operations have. */
export type ModelRequest = Pick<InferenceRequest, 'model' | 'stream' | 'user' | 'metadata' | 'flaggedCategories'> &
  Partial<Pick<InferenceRequest, 'tools' | 'reasoning' | 'raw'>>

/**
 * The request as the caller sent it. An upstream of the same format receives this body (passthrough), so fields that
 * the gateway does not know reach it unchanged.
 */
export type RawRequest = {
  readonly dialect: CallerFormat
  readonly body: Readonly<Record<string, unknown>>
  /** The caller headers that belong to the format: `anthropic-version` and `anthropic-beta`. No others are forwarded. */
  readonly headers: Readonly<Record<string, string>>
  /** What the fields of the body hold. */
  readonly roles: FieldRoles
}

export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly parts: readonly ContentPart[] }

/** One part of a message. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cache?: CacheMarker }
  | { readonly type: 'image'; readonly source: Source; readonly detail?: string; readonly cache?: CacheMarker }
  | { readonly type: 'file'; readonly source: Source; readonly name?: string; readonly cache?: CacheMarker }
  | { readonly type: 'thinking'; readonly text: string; readonly signature?: ReasoningSignature }
  /** `input` is JSON text as the caller sent it. It is parsed only for vendors that need an object. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: string }
  | {
      readonly type: 'tool-result'
      readonly id: string
      readonly parts: readonly ContentPart[]
      readonly isError: boolean
      readonly cache?: CacheMarker
    }
  | { readonly type: 'refusal'; readonly text: string }
  /**
   * A block with no equivalent in this format. An upstream that passes `dialect` through gets it unchanged; for any other upstream
   * it is an error or is reported to `onDropped`.
   */
  | {
      readonly type: 'opaque'
      readonly dialect: CallerFormat
      readonly raw: unknown
      /** True if it is what a tool of the vendor gave, and the caller ran. */
      readonly isToolResult?: boolean
      /** True if the model wrote it to call a tool, and it has no result of the tool. */
      readonly isToolCall?: boolean
    }

/** The content of an image or file. `file` is a file id of the vendor. */
export type Source =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string }

/** Marks the end of a prefix that the vendor should cache. */
export type CacheMarker = { readonly ttl?: string }

/**
 * The vendor's signature over its own thinking. The vendor accepts thinking in the history only together with this value.
 * The gateway cannot read it.
 */
export type ReasoningSignature = {
  /** The name of the `UpstreamFormat` that made it. */
  readonly format: string
  /** For example the value of `signature` (Messages) or `encrypted_content` (Responses). */
  readonly value: string
  /** The vendor's id of the reasoning item, if it has one. */
  readonly id?: string
  /** True if the vendor encrypted the thinking text itself (`redacted_thinking`). */
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
  /** A tool that the vendor runs itself, such as web search, or another tool type that only its format has. */
  | { readonly type: 'opaque'; readonly dialect: CallerFormat; readonly name: string; readonly raw: unknown }

export type ToolChoice =
  | { readonly type: 'auto' | 'required' | 'none' }
  | { readonly type: 'tool'; readonly name: string }

/** How much the model should think, in ascending order. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

export type Reasoning = {
  readonly effort?: Effort
  readonly budgetTokens?: number
  /** True if the caller requests a summary of the reasoning. */
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

/** The flat name of a tool that the caller defined inside a namespace. `InferenceRequest.tools` has no namespaces. */
export const qualifiedToolName = (namespace: string | null | undefined, name: string): string =>
  namespace ? `${namespace}.${name}` : name
