/** A request body in the Chat Completions format. Fields that the gateway never sends are omitted. */
export type ChatRequest = {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage: boolean }
  readonly stop?: readonly string[]
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly tools?: readonly ChatTool[]
  readonly tool_choice?: ChatToolChoice
  readonly parallel_tool_calls?: boolean
  readonly response_format?: ChatResponseFormat
  readonly reasoning_effort?: string
  readonly user?: string
}

export type ChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatPart[] }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly refusal?: string
      readonly reasoning_content?: string
      readonly reasoning?: string
      readonly tool_calls?: readonly ChatToolCall[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } }
  | { readonly type: 'file'; readonly file: ChatFile }

export type ChatFile = { readonly filename: string; readonly file_data: string } | { readonly file_id: string }

export type ChatToolCall = {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export type ChatTool = {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    readonly parameters: Readonly<Record<string, unknown>>
    readonly strict?: boolean
  }
}

export type ChatToolChoice =
  | 'auto'
  | 'required'
  | 'none'
  | { readonly type: 'function'; readonly function: { readonly name: string } }

export type ChatResponseFormat =
  | { readonly type: 'json_object'; readonly schema?: Readonly<Record<string, unknown>> }
  | {
      readonly type: 'json_schema'
      readonly json_schema: {
        readonly name: string
        readonly schema: Readonly<Record<string, unknown>>
        readonly strict?: boolean
      }
    }
