/** Body of `POST /v1/responses`, and its answer. Unknown fields pass. */
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

const InputText = Type.Object(
  {
    type: Type.Literal('input_text'),
    text: Type.String(),
    prompt_cache_breakpoint: CacheBreakpoint,
  },
  { title: 'ResponseInputText' },
)
const OutputText = Type.Object(
  { type: Type.Literal('output_text'), text: Type.String() },
  { title: 'ResponseOutputText' },
)
const Refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }, { title: 'ResponseRefusal' })
const InputImage = Type.Object(
  {
    type: Type.Literal('input_image'),
    image_url: Nullish(Type.String()),
    file_id: Nullish(Type.String()),
    detail: Nullish(Type.String()),
    prompt_cache_breakpoint: CacheBreakpoint,
  },
  { title: 'ResponseInputImage' },
)
const InputFile = Type.Object(
  {
    type: Type.Literal('input_file'),
    file_data: Nullish(Type.String()),
    file_url: Nullish(Type.String()),
    file_id: Nullish(Type.String()),
    filename: Nullish(Type.String()),
    prompt_cache_breakpoint: CacheBreakpoint,
  },
  { title: 'ResponseInputFile' },
)

const parts = [InputText, OutputText, Refusal, InputImage, InputFile] as const
const Part = Type.Union([...parts, OtherThan(tagsOf(parts))])
const Content = Type.Union([Type.String(), Type.Array(Part)])

const Message = Type.Object(
  {
    type: Type.Optional(Type.Literal('message')),
    role: Type.Enum(['user', 'assistant', 'system', 'developer']),
    content: Content,
  },
  { title: 'ResponseInputMessage', examples: [{ role: 'user', content: 'Hello' }] },
)
const FunctionCall = Type.Object(
  {
    type: Type.Literal('function_call'),
    call_id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    namespace: Nullish(Type.String()),
    arguments: Type.String(),
  },
  { title: 'ResponseFunctionCall' },
)
const FunctionCallOutput = Type.Object(
  {
    type: Type.Literal('function_call_output'),
    call_id: Type.String({ minLength: 1 }),
    output: Content,
  },
  { title: 'ResponseFunctionCallOutput' },
)
const Reasoning = Type.Object(
  {
    type: Type.Literal('reasoning'),
    id: Nullish(Type.String()),
    summary: Nullish(Type.Array(Type.Object({ text: Type.String() }))),
    content: Nullish(Type.Array(Type.Object({ text: Type.String() }))),
    encrypted_content: Nullish(Type.String()),
  },
  { title: 'ResponseReasoning' },
)
/** `type` is optional on messages, and they may carry an id. An item with a `role` is a message, never an item reference. */
const ItemReference = Type.Object(
  {
    type: Type.Optional(Type.Literal('item_reference')),
    id: Type.String({ minLength: 1 }),
    role: Type.Optional(Type.Never()),
  },
  { title: 'ResponseItemReference' },
)

const FunctionTool = Type.Object(
  {
    type: Type.Literal('function'),
    name: Type.String({ minLength: 1, maxLength: 256 }),
    description: Nullish(Type.String()),
    parameters: Nullish(JsonObject),
    strict: Nullish(Type.Boolean()),
  },
  { title: 'ResponseTool' },
)
const NamespaceTool = Type.Object(
  {
    type: Type.Literal('namespace'),
    name: Type.String({ minLength: 1, maxLength: 256 }),
    tools: Type.Array(Type.Union([FunctionTool, OtherThan(['function'])])),
  },
  { title: 'ResponseNamespaceTool' },
)

const AnyTool = Type.Union([FunctionTool, NamespaceTool, OtherThan(['function', 'namespace'])])
const AdditionalTools = Type.Object(
  { type: Type.Literal('additional_tools'), tools: Type.Array(AnyTool) },
  { title: 'ResponseAdditionalTools' },
)

const items = [Message, FunctionCall, FunctionCallOutput, Reasoning, ItemReference, AdditionalTools] as const
const Item = Type.Union([...items, OtherThan(tagsOf(items))])

const choices = [
  Type.Object({ type: Type.Literal('function'), name: Type.String(), namespace: Nullish(Type.String()) }),
  Type.Object({ type: Type.Literal('custom'), name: Type.String(), namespace: Nullish(Type.String()) }),
  Type.Object({
    type: Type.Literal('allowed_tools'),
    mode: Type.Enum(['auto', 'required']),
    tools: Type.Array(
      Type.Object({
        type: Type.Optional(Type.String()),
        name: Type.Optional(Type.String()),
        namespace: Nullish(Type.String()),
      }),
    ),
  }),
] as const
const ToolChoice = Type.Union([Type.Enum(['none', 'auto', 'required']), ...choices, OtherThan(tagsOf(choices))], {
  title: 'ResponseToolChoice',
})

const TextFormat = Type.Union(
  [
    Type.Object({ type: Type.Literal('text') }),
    Type.Object({ type: Type.Literal('json_object') }),
    Type.Object({
      type: Type.Literal('json_schema'),
      name: Type.String({ minLength: 1 }),
      schema: JsonObject,
      strict: Nullish(Type.Boolean()),
    }),
  ],
  { title: 'ResponseTextFormat' },
)

/** Body of `POST /v1/responses`. */
export const ResponsesBody = Type.Object(
  {
    model: Model,
    input: Nullish(Type.Union([Type.String(), Type.Array(Item)], { description: 'A text, or a list of items.' })),
    instructions: Nullish(Type.String({ description: 'System prompt.' })),
    stream: Nullish(Stream),
    temperature: Nullish(Temperature),
    top_p: Nullish(TopP),
    max_output_tokens: Nullish(OutputLimit),
    tools: Nullish(Type.Array(AnyTool)),
    tool_choice: Nullish(ToolChoice),
    parallel_tool_calls: Nullish(Type.Boolean()),
    reasoning: Nullish(
      Type.Object({ effort: Nullish(Type.String({ examples: ['medium'] })), summary: Nullish(Type.String()) }),
    ),
    text: Nullish(Type.Object({ format: Nullish(TextFormat) })),
    previous_response_id: Nullish(Type.String()),
    store: Nullish(Type.Boolean()),
    background: Nullish(Type.Boolean()),
    user: Nullish(Type.String()),
    safety_identifier: Nullish(Type.String()),
    metadata: Nullish(Type.Record(Type.String(), Type.String())),
    flagged_categories: Nullish(FlaggedCategories),
  },
  {
    title: 'ResponseRequest',
    description: 'A request in the style of the OpenAI Responses API.',
    examples: [{ model: 'default-model', input: 'Hello' }],
  },
)
export type ResponsesBody = Static<typeof ResponsesBody>
export type ResponsesItem = Static<typeof Item>
export type ResponsesPart = Static<typeof Part>
export type ResponsesTool = Static<typeof FunctionTool>
export type ResponsesNamespace = Static<typeof NamespaceTool>

/** Answer of `POST /v1/responses`. */
export const ResponsesAnswer = Type.Object(
  {
    id: Type.String({ examples: ['resp_01h455vb4pex5vsknk084sn02q'] }),
    object: Type.Literal('response'),
    status: Type.String({ examples: ['completed', 'incomplete'] }),
    model: Type.String(),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    output: Type.Array(
      Type.Object({
        id: Type.Optional(Type.String()),
        type: Type.String({ examples: ['message'] }),
        status: Type.Optional(Type.String()),
        role: Type.Optional(Type.String()),
        content: Type.Optional(Type.Array(JsonObject)),
      }),
      { description: 'Items: `message` with `output_text` parts, `function_call`, `reasoning`.' },
    ),
    usage: Type.Object({
      input_tokens: Type.Integer({ minimum: 0 }),
      output_tokens: Type.Integer({ minimum: 0 }),
      total_tokens: Type.Integer({ minimum: 0 }),
    }),
    ...creditProperties,
  },
  {
    title: 'Response',
    description: 'A whole response. With `stream: true` the same content is sent as server-sent events.',
  },
)

const FlatError = Type.Object({
  error: Type.String({ examples: ['input: is required'] }),
  code: Type.String({ examples: ['invalid_parameter'] }),
  request_id: Type.String(),
  policy: Type.Optional(JsonObject),
})

const LimitError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.Literal('rate_limit_error'),
      param: Type.Null(),
      code: Type.Literal('rate_limit_exceeded'),
    }),
    request_id: Type.String(),
  },
  { description: 'The body of a 429.' },
)

/** The error bodies of this family: flat, except for a 429. */
export const ResponsesError = Type.Union([FlatError, LimitError], { title: 'ResponsesErrorBody' })

export const InputTokensAnswer = Type.Object(
  {
    object: Type.Literal('response.input_tokens'),
    input_tokens: Type.Integer({ minimum: 0, examples: [14] }),
  },
  { title: 'InputTokens' },
)
