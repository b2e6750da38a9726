/** Body of `POST /v1/chat/completions`, and its answer. Unknown fields pass. */
import Type, { type Static } from 'typebox'
import { creditProperties } from '../inference/writing/credit-fields.ts'
import { CacheBreakpoint } from '../inference/reading/openai-content.ts'
import {
  FlaggedCategories,
  JsonObject,
  Model,
  Nullish,
  OtherThan,
  OutputLimit,
  Stream,
  Temperature,
  TopP,
  tagsOf,
} from '../inference/reading/request-fields.ts'

const marks = { prompt_cache_breakpoint: CacheBreakpoint, cache_control: Type.Optional(Type.Unknown()) }

const Text = Type.Object({ type: Type.Literal('text'), text: Type.String(), ...marks }, { title: 'ChatTextPart' })
const Image = Type.Object(
  {
    type: Type.Literal('image_url'),
    image_url: Type.Object({ url: Type.String(), detail: Nullish(Type.String()) }),
    ...marks,
  },
  { title: 'ChatImagePart' },
)
const File = Type.Object(
  {
    type: Type.Literal('file'),
    file: Type.Object({
      file_data: Type.Optional(Type.String()),
      file_id: Type.Optional(Type.String()),
      filename: Type.Optional(Type.String()),
    }),
    ...marks,
  },
  { title: 'ChatFilePart' },
)
const Refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }, { title: 'ChatRefusalPart' })

const parts = [Text, Image, File, Refusal] as const
const Part = Type.Union([...parts, OtherThan(tagsOf(parts))])
const Content = Type.Union([Type.String(), Type.Array(Part)])

const FunctionCall = Type.Object(
  {
    type: Type.Literal('function'),
    id: Type.String({ minLength: 1 }),
    function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() }),
  },
  { title: 'ChatToolCall' },
)
const ToolCall = Type.Union([FunctionCall, OtherThan(['function'])])

const Message = Type.Union(
  [
    Type.Object({ role: Type.Literal('system'), content: Content, ...marks }),
    Type.Object({ role: Type.Literal('developer'), content: Content, ...marks }),
    Type.Object({ role: Type.Literal('user'), content: Content, ...marks }),
    Type.Object({
      role: Type.Literal('assistant'),
      content: Nullish(Content),
      refusal: Nullish(Type.String()),
      reasoning_content: Nullish(Type.String()),
      tool_calls: Nullish(Type.Array(ToolCall)),
      ...marks,
    }),
    Type.Object({
      role: Type.Literal('tool'),
      tool_call_id: Type.String({ minLength: 1 }),
      content: Content,
      ...marks,
    }),
  ],
  { title: 'ChatMessage', examples: [{ role: 'user', content: 'Hello' }] },
)

const FunctionTool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 256 }),
      description: Nullish(Type.String()),
      parameters: Nullish(JsonObject),
      strict: Nullish(Type.Boolean()),
    }),
    ...marks,
  },
  { title: 'ChatTool' },
)

const Named = Type.Object({ name: Type.String() })
const ToolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required']),
    Type.Object({ type: Type.Literal('function'), function: Named }),
    Type.Object({ type: Type.Literal('custom'), custom: Named }),
    Type.Object({
      type: Type.Literal('allowed_tools'),
      allowed_tools: Type.Object({
        mode: Type.Enum(['auto', 'required']),
        tools: Type.Array(Type.Object({ function: Type.Optional(Named), custom: Type.Optional(Named) })),
      }),
    }),
  ],
  { title: 'ChatToolChoice' },
)

const ResponseFormat = Type.Union(
  [
    Type.Object({ type: Type.Literal('text') }),
    Type.Object({ type: Type.Literal('json_object') }),
    Type.Object({
      type: Type.Literal('json_schema'),
      json_schema: Type.Object({
        name: Type.String({ minLength: 1 }),
        schema: Nullish(JsonObject),
        strict: Nullish(Type.Boolean()),
      }),
    }),
  ],
  { title: 'ChatResponseFormat' },
)

/** Body of `POST /v1/chat/completions`. */
export const ChatBody = Type.Object(
  {
    model: Model,
    messages: Type.Array(Message, { minItems: 1 }),
    stream: Nullish(Stream),
    stream_options: Nullish(Type.Object({ include_usage: Nullish(Type.Boolean()) })),
    max_completion_tokens: Nullish(OutputLimit),
    max_tokens: Nullish(OutputLimit),
    temperature: Nullish(Temperature),
    top_p: Nullish(TopP),
    top_k: Nullish(Type.Integer({ minimum: -1 })),
    n: Nullish(Type.Integer({ minimum: 1 })),
    stop: Nullish(Type.Union([Type.String(), Type.Array(Type.String())])),
    tools: Nullish(Type.Array(Type.Union([FunctionTool, OtherThan(['function'])]))),
    tool_choice: Nullish(ToolChoice),
    parallel_tool_calls: Nullish(Type.Boolean()),
    reasoning_effort: Nullish(Type.String({ examples: ['medium'] })),
    response_format: Nullish(ResponseFormat),
    modalities: Nullish(Type.Array(Type.String())),
    user: Nullish(Type.String()),
    safety_identifier: Nullish(Type.String()),
    metadata: Nullish(Type.Record(Type.String(), Type.String())),
    flagged_categories: Nullish(FlaggedCategories),
  },
  {
    title: 'ChatCompletionRequest',
    description: 'A request in the style of the OpenAI Chat Completions API.',
    examples: [{ model: 'default-model', messages: [{ role: 'user', content: 'Hello' }] }],
  },
)
export type ChatBody = Static<typeof ChatBody>
export type ChatPart = Static<typeof Part>
export type ChatMessage = Static<typeof Message>
export type ChatTool = Static<typeof FunctionTool>
export type ChatToolCall = Static<typeof FunctionCall>

/** Answer of `POST /v1/chat/completions`. */
export const ChatAnswer = Type.Object(
  {
    id: Type.String({ examples: ['chatcmpl-01h455vb4pex5vsknk084sn02q'] }),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()]),
          refusal: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          reasoning_content: Type.Optional(Type.String()),
          tool_calls: Type.Optional(Type.Array(JsonObject)),
        }),
        finish_reason: Type.String({ examples: ['stop'] }),
        logprobs: Type.Optional(Type.Unknown()),
      }),
    ),
    usage: Type.Object({
      prompt_tokens: Type.Integer({ minimum: 0 }),
      completion_tokens: Type.Integer({ minimum: 0 }),
      total_tokens: Type.Integer({ minimum: 0 }),
    }),
    ...creditProperties,
  },
  {
    title: 'ChatCompletion',
    description: 'A whole completion. With `stream: true` the same content is sent as server-sent events.',
  },
)
