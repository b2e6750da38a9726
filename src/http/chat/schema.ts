/** Body of `POST /v1/chat/completions`. Unknown fields pass. */
import Type, { type Static } from 'typebox'
import { flag, integer, text, texts } from '../described.ts'
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

const marks = {
  prompt_cache_breakpoint: CacheBreakpoint,
  cache_control: Type.Optional(Type.Unknown({ description: 'Anthropic’s name of `prompt_cache_breakpoint`.' })),
}

const Text = Type.Object({ type: Type.Literal('text'), text: text('The text.'), ...marks }, { title: 'ChatTextPart' })
const Image = Type.Object(
  {
    type: Type.Literal('image_url'),
    image_url: Type.Object(
      { url: text('The address, or a data URL.'), detail: Nullish(text('The resolution that the model sees.')) },
      { description: 'The image.' },
    ),
    ...marks,
  },
  { title: 'ChatImagePart' },
)
const File = Type.Object(
  {
    type: Type.Literal('file'),
    file: Type.Object(
      {
        file_data: Type.Optional(text('The content as a data URL or in base64.')),
        file_id: Type.Optional(text('The file at the vendor.')),
        filename: Type.Optional(text('The name of the file.')),
      },
      { description: 'The file.' },
    ),
    ...marks,
  },
  { title: 'ChatFilePart' },
)
const Refusal = Type.Object(
  { type: Type.Literal('refusal'), refusal: text('Why the model refused.') },
  { title: 'ChatRefusalPart' },
)

const parts = [Text, Image, File, Refusal] as const
const Part = Type.Union([...parts, OtherThan('OtherChatPart', tagsOf(parts))])
const Content = Type.Union([Type.String(), Type.Array(Part)], { description: 'A text, or parts.' })

const CalledFunction = Type.Object(
  { name: text('The name.', { minLength: 1 }), arguments: text('The arguments, as JSON.') },
  { title: 'ChatFunctionCall', deprecated: true, description: 'The older form of `tool_calls`.' },
)
const FunctionCall = Type.Object(
  {
    type: Type.Literal('function'),
    id: text('The id of the call.', { minLength: 1 }),
    function: Type.Object(
      { name: text('The name.', { minLength: 1 }), arguments: text('The arguments, as JSON.') },
      { description: 'The function and its arguments.' },
    ),
  },
  { title: 'ChatToolCall' },
)
export const ToolCall = Type.Union([FunctionCall, OtherThan('OtherChatToolCall', ['function'])])

const Message = Type.Union(
  [
    Type.Object({ role: Type.Literal('system'), content: Content, ...marks }, { title: 'ChatSystemMessage' }),
    Type.Object({ role: Type.Literal('developer'), content: Content, ...marks }, { title: 'ChatDeveloperMessage' }),
    Type.Object({ role: Type.Literal('user'), content: Content, ...marks }, { title: 'ChatUserMessage' }),
    Type.Object(
      {
        role: Type.Literal('assistant'),
        content: Nullish(Content),
        refusal: Nullish(text('Why the model refused.')),
        reasoning_content: Nullish(text('The reasoning.')),
        tool_calls: Nullish(Type.Array(ToolCall, { description: 'The tools that the model called.' })),
        function_call: Nullish(CalledFunction),
        ...marks,
      },
      { title: 'ChatAssistantMessage' },
    ),
    Type.Object(
      {
        role: Type.Literal('tool'),
        tool_call_id: text('The `id` of the call.', { minLength: 1 }),
        content: Content,
        ...marks,
      },
      { title: 'ChatToolMessage' },
    ),
    Type.Object(
      {
        role: Type.Literal('function'),
        name: text('The function that was called.', { minLength: 1 }),
        content: Nullish(Content),
      },
      { title: 'ChatFunctionMessage', deprecated: true },
    ),
  ],
  { title: 'ChatMessage', examples: [{ role: 'user', content: 'Hello' }] },
)

const definition = {
  name: text('The name.', { minLength: 1, maxLength: 256 }),
  description: Nullish(text('What the tool does.')),
  parameters: Nullish(jsonObject('JSON Schema of the arguments.')),
  strict: Nullish(flag('Whether the schema must be followed exactly.')),
}
const FunctionTool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object(definition, { description: 'The function.' }),
    ...marks,
  },
  { title: 'ChatTool' },
)

const Named = Type.Object({ name: text('The name.') }, { title: 'ChatToolName', description: 'The tool.' })
const ToolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required']),
    Type.Object({ type: Type.Literal('function'), function: Named }, { title: 'ChatFunctionChoice' }),
    Type.Object({ type: Type.Literal('custom'), custom: Named }, { title: 'ChatCustomChoice' }),
    Type.Object(
      {
        type: Type.Literal('allowed_tools'),
        allowed_tools: Type.Object(
          {
            mode: Type.Enum(['auto', 'required'], { description: 'Whether the model must use one of them.' }),
            tools: Type.Array(Type.Object({ function: Type.Optional(Named), custom: Type.Optional(Named) }), {
              description: 'The tools.',
            }),
          },
          { description: 'A choice among some of the tools.' },
        ),
      },
      { title: 'ChatAllowedToolsChoice' },
    ),
  ],
  { title: 'ChatToolChoice', description: 'How the model chooses a tool.' },
)

const ResponseFormat = Type.Union(
  [
    Type.Object({ type: Type.Literal('text') }, { title: 'ChatTextFormat' }),
    Type.Object({ type: Type.Literal('json_object') }, { title: 'ChatJsonFormat' }),
    Type.Object(
      {
        type: Type.Literal('json_schema'),
        json_schema: Type.Object(
          {
            name: text('The name.', { minLength: 1 }),
            schema: Nullish(jsonObject('JSON Schema of the answer.')),
            strict: Nullish(flag('Whether the schema must be followed exactly.')),
          },
          { description: 'The schema of the response.' },
        ),
      },
      { title: 'ChatJsonSchemaFormat' },
    ),
  ],
  { title: 'ChatResponseFormat', description: 'The format of the response.' },
)

/** Body of `POST /v1/chat/completions`. */
export const ChatBody = Type.Object(
  {
    model: Model,
    messages: Type.Array(Message, { minItems: 1, description: 'The conversation so far.' }),
    stream: Nullish(Stream),
    stream_options: Nullish(
      Type.Object(
        { include_usage: Nullish(flag('Whether the last chunk has the usage.')) },
        { title: 'ChatStreamOptions', description: 'Settings of the stream.' },
      ),
    ),
    max_completion_tokens: Nullish(OutputLimit),
    max_tokens: Nullish(OutputLimit),
    temperature: Nullish(Temperature),
    top_p: Nullish(TopP),
    top_k: Nullish(integer('Samples only from this many tokens.', { minimum: -1 })),
    n: Nullish(integer('Number of choices; only 1 is supported.', { minimum: 1 })),
    stop: Nullish(
      Type.Union([Type.String(), Type.Array(Type.String())], {
        description: 'The response ends before one of these texts.',
      }),
    ),
    tools: Nullish(
      Type.Array(Type.Union([FunctionTool, OtherThan('OtherChatTool', ['function'])]), {
        description: 'Tools that the model may use.',
      }),
    ),
    tool_choice: Nullish(ToolChoice),
    functions: Nullish(
      Type.Array(Type.Object(definition, { title: 'ChatFunction', deprecated: true }), {
        description: 'The older form of `tools`. The response then has `function_call`.',
        deprecated: true,
      }),
    ),
    function_call: Nullish(
      Type.Union([Type.Enum(['none', 'auto']), Named], {
        description: 'The older form of `tool_choice`.',
        deprecated: true,
      }),
    ),
    parallel_tool_calls: Nullish(flag('Whether the model may call several tools at once.')),
    reasoning_effort: Nullish(text('The reasoning effort.', { examples: ['medium'] })),
    response_format: Nullish(ResponseFormat),
    modalities: Nullish(texts('Only `text` is supported.')),
    user: Nullish(text('The end user.')),
    safety_identifier: Nullish(text('The end user; takes precedence over `user`.')),
    metadata: Nullish(Type.Record(Type.String(), Type.String(), { description: 'Labels that rules can read.' })),
    flagged_categories: Nullish(FlaggedCategories),
  },
  {
    title: 'ChatCompletionRequest',
    description: 'A request in the style of the OpenAI Chat Completions API.',
    examples: [{ model: 'gatehouse-echo', messages: [{ role: 'user', content: 'Hello' }] }],
  },
)
export type ChatBody = Static<typeof ChatBody>
export type ChatPart = Static<typeof Part>
export type ChatMessage = Static<typeof Message>
export type ChatTool = Static<typeof FunctionTool>
export type ChatToolCall = Static<typeof FunctionCall>
