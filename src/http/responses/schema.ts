/** Body of `POST /v1/responses`. Unknown fields pass. */
import Type, { type Static } from 'typebox'
import { flag, text } from '../described.ts'
import { CacheBreakpoint } from '../inference/reading/openai-content.ts'
import {
  FlaggedCategories,
  jsonObject,
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
    text: text('The text.'),
    prompt_cache_breakpoint: CacheBreakpoint,
  },
  { title: 'ResponseInputText' },
)
const OutputText = Type.Object(
  { type: Type.Literal('output_text'), text: text('The text.') },
  { title: 'ResponseOutputText' },
)
export const Refusal = Type.Object(
  { type: Type.Literal('refusal'), refusal: text('Why the model refused.') },
  { title: 'ResponseRefusal' },
)
const InputImage = Type.Object(
  {
    type: Type.Literal('input_image'),
    image_url: Nullish(text('The address, or a data URL.')),
    file_id: Nullish(text('The file at the vendor.')),
    detail: Nullish(text('The resolution that the model sees.')),
    prompt_cache_breakpoint: CacheBreakpoint,
  },
  { title: 'ResponseInputImage' },
)
const InputFile = Type.Object(
  {
    type: Type.Literal('input_file'),
    file_data: Nullish(text('The content as a data URL or in base64.')),
    file_url: Nullish(text('The address of the file.')),
    file_id: Nullish(text('The file at the vendor.')),
    filename: Nullish(text('The name of the file.')),
    prompt_cache_breakpoint: CacheBreakpoint,
  },
  { title: 'ResponseInputFile' },
)

const parts = [InputText, OutputText, Refusal, InputImage, InputFile] as const
const Part = Type.Union([...parts, OtherThan('OtherResponsePart', tagsOf(parts))])
const Content = Type.Union([Type.String(), Type.Array(Part)], { description: 'A text, or parts.' })

const Message = Type.Object(
  {
    type: Type.Optional(Type.Literal('message', { description: 'May be left out.' })),
    role: Type.Enum(['user', 'assistant', 'system', 'developer'], { description: 'Who the message is from.' }),
    content: Content,
  },
  { title: 'ResponseInputMessage', examples: [{ role: 'user', content: 'Hello' }] },
)
const FunctionCall = Type.Object(
  {
    type: Type.Literal('function_call'),
    call_id: text('The id of the call.', { minLength: 1 }),
    name: text('The name.', { minLength: 1 }),
    namespace: Nullish(text('The namespace of the tool.')),
    arguments: text('The arguments, as JSON.'),
  },
  { title: 'ResponseFunctionCall' },
)
const FunctionCallOutput = Type.Object(
  {
    type: Type.Literal('function_call_output'),
    call_id: text('The id of the call.', { minLength: 1 }),
    output: Content,
  },
  { title: 'ResponseFunctionCallOutput' },
)
const Reasoning = Type.Object(
  {
    type: Type.Literal('reasoning'),
    id: Nullish(text('The id of the item.')),
    summary: Nullish(Type.Array(Type.Object({ text: text('The text.') }), { description: 'The summary.' })),
    content: Nullish(Type.Array(Type.Object({ text: text('The text.') }), { description: 'The reasoning.' })),
    encrypted_content: Nullish(text('The reasoning, encrypted by the vendor.')),
  },
  { title: 'ResponseReasoning' },
)
/** `type` is optional on messages, and they may carry an id. An item with a `role` is a message, never an item reference. */
const ItemReference = Type.Object(
  {
    type: Type.Optional(Type.Literal('item_reference')),
    id: text('The id of the item.', { minLength: 1 }),
    role: Type.Optional(Type.Never({ description: 'Must be absent.' })),
  },
  { title: 'ResponseItemReference' },
)

const FunctionTool = Type.Object(
  {
    type: Type.Literal('function'),
    name: text('The name.', { minLength: 1, maxLength: 256 }),
    description: Nullish(text('What the tool does.')),
    parameters: Nullish(jsonObject('JSON Schema of the arguments.')),
    strict: Nullish(flag('Whether the schema must be followed exactly.')),
  },
  { title: 'ResponseTool' },
)
const NamespaceTool = Type.Object(
  {
    type: Type.Literal('namespace'),
    name: text('The name.', { minLength: 1, maxLength: 256 }),
    tools: Type.Array(Type.Union([FunctionTool, OtherThan('OtherNamespaceTool', ['function'])]), {
      description: 'The tools of the namespace.',
    }),
  },
  { title: 'ResponseNamespaceTool' },
)

const AnyTool = Type.Union([FunctionTool, NamespaceTool, OtherThan('OtherResponseTool', ['function', 'namespace'])])
const AdditionalTools = Type.Object(
  {
    type: Type.Literal('additional_tools'),
    tools: Type.Array(AnyTool, { description: 'Tools that the model may use from here on.' }),
  },
  { title: 'ResponseAdditionalTools' },
)

const items = [Message, FunctionCall, FunctionCallOutput, Reasoning, ItemReference, AdditionalTools] as const
const Item = Type.Union([...items, OtherThan('OtherResponseItem', tagsOf(items))])

const choices = [
  Type.Object(
    {
      type: Type.Literal('function'),
      name: text('The name.'),
      namespace: Nullish(text('The namespace of the tool.')),
    },
    { title: 'ResponseFunctionChoice' },
  ),
  Type.Object(
    {
      type: Type.Literal('custom'),
      name: text('The name.'),
      namespace: Nullish(text('The namespace of the tool.')),
    },
    { title: 'ResponseCustomChoice' },
  ),
  Type.Object(
    {
      type: Type.Literal('allowed_tools'),
      mode: Type.Enum(['auto', 'required'], { description: 'Whether the model must use one of them.' }),
      tools: Type.Array(
        Type.Object({
          type: Type.Optional(text('The type.')),
          name: Type.Optional(text('The name.')),
          namespace: Nullish(text('The namespace of the tool.')),
        }),
        { description: 'The tools.' },
      ),
    },
    { title: 'ResponseAllowedToolsChoice' },
  ),
] as const
const ToolChoice = Type.Union(
  [Type.Enum(['none', 'auto', 'required']), ...choices, OtherThan('OtherResponseToolChoice', tagsOf(choices))],
  {
    title: 'ResponseToolChoice',
    description: 'How the model chooses a tool.',
  },
)

const TextFormat = Type.Union(
  [
    Type.Object({ type: Type.Literal('text') }, { title: 'ResponsePlainTextFormat' }),
    Type.Object({ type: Type.Literal('json_object') }, { title: 'ResponseJsonFormat' }),
    Type.Object(
      {
        type: Type.Literal('json_schema'),
        name: text('The name.', { minLength: 1 }),
        schema: jsonObject('JSON Schema of the answer.'),
        strict: Nullish(flag('Whether the schema must be followed exactly.')),
      },
      { title: 'ResponseJsonSchemaFormat' },
    ),
  ],
  { title: 'ResponseTextFormat', description: 'The format of the response.' },
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
    tools: Nullish(Type.Array(AnyTool, { description: 'Tools that the model may use.' })),
    tool_choice: Nullish(ToolChoice),
    parallel_tool_calls: Nullish(flag('Whether the model may call several tools at once.')),
    reasoning: Nullish(
      Type.Object(
        {
          effort: Nullish(text('The reasoning effort.', { examples: ['medium'] })),
          summary: Nullish(text('How detailed the summary is.')),
        },
        { title: 'ResponseReasoningConfig', description: 'Settings of the reasoning.' },
      ),
    ),
    text: Nullish(
      Type.Object(
        { format: Nullish(TextFormat) },
        { title: 'ResponseTextConfig', description: 'Settings of the text.' },
      ),
    ),
    previous_response_id: Nullish(text('The stored response that this one continues.')),
    store: Nullish(flag('Whether the response is stored. Default: true.')),
    background: Nullish(flag('Must be false: responses are not created in the background.')),
    user: Nullish(text('The end user.')),
    safety_identifier: Nullish(text('The end user; takes precedence over `user`.')),
    metadata: Nullish(Type.Record(Type.String(), Type.String(), { description: 'Labels that rules can read.' })),
    flagged_categories: Nullish(FlaggedCategories),
  },
  {
    title: 'ResponseRequest',
    description: 'A request in the style of the OpenAI Responses API.',
    examples: [{ model: 'gatehouse-echo', input: 'Hello' }],
  },
)
export type ResponsesBody = Static<typeof ResponsesBody>
export type ResponsesItem = Static<typeof Item>
export type ResponsesPart = Static<typeof Part>
export type ResponsesTool = Static<typeof FunctionTool>
export type ResponsesNamespace = Static<typeof NamespaceTool>
