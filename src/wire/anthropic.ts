/** A request body in the Messages format. Fields that the gateway never sends are omitted. */
export type MessagesRequest = {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly MessagesMessage[]
  readonly system?: readonly TextBlock[]
  readonly stream?: boolean
  readonly stop_sequences?: readonly string[]
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly tools?: readonly (MessagesTool | Readonly<Record<string, unknown>>)[]
  readonly tool_choice?: MessagesToolChoice
  readonly thinking?: Thinking
  readonly output_config?: OutputConfig
  readonly metadata?: { readonly user_id: string }
}

export type MessagesMessage = { readonly role: 'user' | 'assistant'; readonly content: readonly ContentBlock[] }

export type CacheControl = { readonly type: 'ephemeral'; readonly ttl?: '5m' | '1h' }

type Cacheable = { readonly cache_control?: CacheControl }

export type TextBlock = { readonly type: 'text'; readonly text: string } & Cacheable

export type ImageBlock = {
  readonly type: 'image'
  readonly source:
    | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
    | { readonly type: 'url'; readonly url: string }
    | { readonly type: 'file'; readonly file_id: string }
} & Cacheable

export type DocumentBlock = {
  readonly type: 'document'
  readonly title?: string
  readonly source:
    | { readonly type: 'base64'; readonly media_type: 'application/pdf'; readonly data: string }
    | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string }
    | { readonly type: 'url'; readonly url: string }
    | { readonly type: 'file'; readonly file_id: string }
} & Cacheable

export type ToolUseBlock = {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export type ToolResultBlock = {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: readonly ContentBlock[]
  readonly is_error?: boolean
} & Cacheable

export type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** The last member is an opaque block, which is sent unchanged. */
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | Readonly<Record<string, unknown>>

export type MessagesTool = {
  readonly name: string
  readonly description?: string
  readonly input_schema: Readonly<Record<string, unknown>>
  readonly strict?: boolean
} & Cacheable

export type MessagesToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'none' }

export type Thinking =
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'adaptive'; readonly display?: 'omitted' | 'summarized' }
  | { readonly type: 'disabled' }

export type OutputConfig = {
  readonly effort?: string
  readonly format?: { readonly type: 'json_schema'; readonly schema: Readonly<Record<string, unknown>> }
}
