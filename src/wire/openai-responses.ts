/** A request body in the Responses format. Fields that the gateway never sends are omitted. */
export type ResponsesRequest = {
  readonly model: string
  readonly input: readonly InputItem[]
  readonly instructions?: string
  readonly max_output_tokens?: number
  readonly stream?: boolean
  readonly store: false
  readonly include?: readonly string[]
  readonly temperature?: number
  readonly top_p?: number
  readonly tools?: readonly (ResponsesTool | Readonly<Record<string, unknown>>)[]
  readonly tool_choice?: ResponsesToolChoice
  readonly parallel_tool_calls?: boolean
  readonly reasoning?: { readonly effort?: string; readonly summary?: 'auto' }
  readonly text?: { readonly format?: TextFormat; readonly verbosity?: unknown }
  readonly user?: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** The last member is an opaque item, which is sent unchanged. */
export type InputItem =
  | { readonly role: 'user' | 'developer'; readonly content: readonly InputPart[] }
  | { readonly role: 'assistant'; readonly content: readonly OutputPart[] }
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'function_call_output'; readonly call_id: string; readonly output: string | readonly InputPart[] }
  | { readonly type: 'reasoning'; readonly summary: readonly SummaryPart[]; readonly encrypted_content: string }
  | Readonly<Record<string, unknown>>

export type InputPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: string }
  | { readonly type: 'input_image'; readonly file_id: string; readonly detail: string }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }
  | { readonly type: 'input_file'; readonly file_url: string }
  | { readonly type: 'input_file'; readonly file_id: string }

export type OutputPart =
  | { readonly type: 'output_text'; readonly text: string; readonly annotations: readonly never[] }
  | { readonly type: 'refusal'; readonly refusal: string }

export type SummaryPart = { readonly type: 'summary_text'; readonly text: string }

export type ResponsesTool = {
  readonly type: 'function'
  readonly name: string
  readonly description?: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly strict: boolean
}

export type ResponsesToolChoice =
  | 'auto'
  | 'required'
  | 'none'
  | { readonly type: 'function'; readonly name: string }
  | { readonly type: 'web_search' }

export type TextFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly schema: Readonly<Record<string, unknown>>
      readonly strict?: boolean
    }
