/** Bodies of `POST /v1/messages` and `POST /v1/messages/count_tokens`. Unknown fields pass. */
import Type, { type Static } from 'typebox'
import { flag, integer, text, texts } from '../described.ts'
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

const CacheControl = Nullish(
  Type.Object(
    { ttl: Type.Optional(text('How long the cache keeps it.')) },
    { title: 'CacheControl', description: 'Marks the end of a part of the prompt that is cached.' },
  ),
)

const Text = Type.Object(
  { type: Type.Literal('text'), text: text('The text.'), cache_control: CacheControl },
  { title: 'TextBlock', examples: [{ type: 'text', text: 'Hello' }] },
)

const Base64Source = Type.Object(
  {
    type: Type.Literal('base64'),
    media_type: text('The media type.'),
    data: text('The content.'),
  },
  { title: 'Base64Source' },
)
const UrlSource = Type.Object({ type: Type.Literal('url'), url: text('The address.') }, { title: 'UrlSource' })
const FileSource = Type.Object(
  { type: Type.Literal('file'), file_id: text('The file at the vendor.') },
  { title: 'FileSource' },
)
const TextSource = Type.Object({ type: Type.Literal('text'), data: text('The content.') }, { title: 'TextSource' })
const ContentSource = Type.Object(
  {
    type: Type.Literal('content'),
    content: Type.Union([Type.String(), Type.Array(Type.Object({ type: text('The type.') }))], {
      description: 'A text, or blocks.',
    }),
  },
  { title: 'ContentSource' },
)

const Image = Type.Object(
  {
    type: Type.Literal('image'),
    source: Type.Union([Base64Source, UrlSource, FileSource], { description: 'The image.' }),
    cache_control: CacheControl,
  },
  { title: 'ImageBlock' },
)
const Document = Type.Object(
  {
    type: Type.Literal('document'),
    source: Type.Union([Base64Source, TextSource, UrlSource, FileSource, ContentSource], {
      description: 'The document.',
    }),
    title: Nullish(text('The title.')),
    cache_control: CacheControl,
  },
  { title: 'DocumentBlock' },
)
const SearchResult = Type.Object(
  {
    type: Type.Literal('search_result'),
    source: text('Where the result is from.'),
    title: text('The title.'),
    content: Type.Array(Text, { description: 'The texts of the result.' }),
    cache_control: CacheControl,
  },
  { title: 'SearchResultBlock' },
)
const ToolReference = Type.Object(
  { type: Type.Literal('tool_reference'), tool_name: text('The name of the tool.') },
  { title: 'ToolReferenceBlock' },
)

const resultBlocks = [Text, Image, Document, SearchResult, ToolReference] as const

const ToolResult = Type.Object(
  {
    type: Type.Literal('tool_result'),
    tool_use_id: text('The `id` of the `tool_use` block.', { minLength: 1 }),
    content: Nullish(
      Type.Union(
        [Type.String(), Type.Array(Type.Union([...resultBlocks, OtherThan('OtherResultBlock', tagsOf(resultBlocks))]))],
        {
          description: 'The result of the tool.',
        },
      ),
    ),
    is_error: Nullish(flag('Whether the tool failed.')),
    cache_control: CacheControl,
  },
  { title: 'ToolResultBlock' },
)
export const ToolUse = Type.Object(
  {
    type: Type.Literal('tool_use'),
    id: text('The id.', { minLength: 1 }),
    name: text('The name of the tool.', { minLength: 1 }),
    input: jsonObject('The arguments of the call.'),
  },
  { title: 'ToolUseBlock' },
)
export const Thinking = Type.Object(
  {
    type: Type.Literal('thinking'),
    thinking: text('The reasoning.'),
    signature: Nullish(text('Proves that the model wrote it.')),
  },
  { title: 'ThinkingBlock' },
)
export const RedactedThinking = Type.Object(
  { type: Type.Literal('redacted_thinking'), data: text('The content.') },
  { title: 'RedactedThinkingBlock' },
)

const ClientTool = Type.Object(
  {
    type: Nullish(Type.Literal('custom', { description: 'Absent or `custom`.' })),
    name: text('The name of the tool.', { minLength: 1, maxLength: 256 }),
    description: Nullish(text('What the tool does.')),
    input_schema: jsonObject('JSON Schema of the input.'),
    strict: Nullish(flag('Whether the input must match the schema exactly.')),
    cache_control: CacheControl,
  },
  { title: 'Tool' },
)

const AnyTool = Type.Union([ClientTool, OtherThan('VendorTool', ['custom'])], {
  description: 'A tool that the caller defines, or one of the vendor.',
})

/** A tool that is added or removed during the conversation, by its name or with its definition. */
const ToolChange = <Change extends 'tool_addition' | 'tool_removal'>(change: Change, title: string) =>
  Type.Object(
    {
      type: Type.Literal(change),
      tool: Type.Object(
        { name: Type.Optional(text('The name of the tool.')), definition: Type.Optional(AnyTool) },
        { description: 'The tool, by its name or with its definition.' },
      ),
    },
    { title },
  )
const changes = [ToolChange('tool_addition', 'ToolAddition'), ToolChange('tool_removal', 'ToolRemoval')] as const

const blocks = [...resultBlocks, ...changes, ToolUse, ToolResult, Thinking, RedactedThinking] as const
const Block = Type.Union([...blocks, OtherThan('OtherBlock', tagsOf(blocks))])
const Content = Type.Union([Type.String(), Type.Array(Block)], { description: 'A text, or blocks.' })

const Role = Type.Enum(['user', 'assistant', 'system'], { description: 'Who the message is from.' })
const messageFields = {
  content: Content,
  clear_at: Nullish(
    Type.String({ description: 'For a system message: `next_user_message` if it applies only until then.' }),
  ),
  output_config: Nullish(
    Type.Object(
      { effort: Nullish(text('The reasoning effort.')) },
      { title: 'MessageOutputConfig', description: 'Settings from this message on.' },
    ),
  ),
}
const Message = Type.Object(
  { role: Role, ...messageFields },
  { title: 'InputMessage', examples: [{ role: 'user', content: 'Hello' }] },
)

const ToolChoice = Type.Object(
  {
    type: Nullish(Type.Enum(['auto', 'any', 'tool', 'none'], { description: 'Whether the model must use a tool.' })),
    name: Nullish(text('The name of the tool.')),
    disable_parallel_tool_use: Nullish(flag('Whether the model may call only one tool at a time.')),
  },
  { title: 'ToolChoice', description: 'How the model chooses a tool.' },
)

const OutputFormat = Type.Object(
  { type: Type.Literal('json_schema'), schema: jsonObject('JSON Schema of the answer.') },
  { title: 'OutputFormat', description: 'The format of the response.' },
)

/** The fields of both endpoints. */
const shared = {
  model: Model,
  system: Nullish(Type.Union([Type.String(), Type.Array(Text)], { description: 'System prompt.' })),
  tools: Nullish(Type.Array(AnyTool, { description: 'Tools that the caller defines, or vendor tools by `type`.' })),
  tool_choice: Nullish(ToolChoice),
  thinking: Nullish(
    Type.Object(
      {
        type: Nullish(text('The type.', { examples: ['adaptive'] })),
        budget_tokens: Nullish(integer('Maximum number of tokens for reasoning.', { minimum: 1 })),
        display: Nullish(text('How the reasoning is returned.')),
      },
      { title: 'ThinkingConfig', description: 'Whether and how the model reasons before it answers.' },
    ),
  ),
  output_config: Nullish(
    Type.Object(
      { effort: Nullish(text('The reasoning effort.')), format: Nullish(OutputFormat) },
      { title: 'OutputConfig', description: 'The reasoning effort and the format of the response.' },
    ),
  ),
  context_management: Nullish(
    Type.Object(
      {
        edits: Nullish(
          Type.Array(
            Type.Object(
              { type: text('The type.'), keep: Type.Optional(Type.Unknown({ description: 'What is kept.' })) },
              { title: 'ContextEdit' },
            ),
            { description: 'Changes to the context.' },
          ),
        ),
      },
      {
        title: 'ContextManagement',
        description:
          '`clear_thinking_20251015` with `keep: "all"` is handled by the gateway and not sent to the upstream.',
      },
    ),
  ),
}

/** Body of `POST /v1/messages`. */
export const MessagesBody = Type.Object(
  {
    ...shared,
    messages: Type.Array(Message, { minItems: 1, description: 'The conversation so far.' }),
    max_tokens: Nullish(OutputLimit),
    temperature: Nullish(Temperature),
    top_p: Nullish(TopP),
    top_k: Nullish(integer('Samples only from this many tokens.', { minimum: 0 })),
    stop_sequences: Nullish(texts('The response ends before one of these texts.')),
    stream: Nullish(Stream),
    metadata: Nullish(
      Type.Object(
        { user_id: Nullish(text('The end user.')) },
        { title: 'MessageMetadata', description: 'Who the request is for.' },
      ),
    ),
    output_format: Nullish(OutputFormat),
    flagged_categories: Nullish(FlaggedCategories),
  },
  {
    title: 'MessageRequest',
    description: 'A request in the style of the Anthropic Messages API.',
    examples: [{ model: 'gatehouse-echo', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] }],
  },
)
export type MessagesBody = Static<typeof MessagesBody>

/** Body of `POST /v1/messages/count_tokens`. A message without a role is the user's. */
export const CountTokensBody = Type.Object(
  {
    ...shared,
    messages: Type.Array(Type.Object({ role: Type.Optional(Role), ...messageFields }), {
      minItems: 1,
      description: 'The conversation so far.',
    }),
  },
  {
    title: 'CountTokensRequest',
    examples: [{ model: 'gatehouse-echo', messages: [{ role: 'user', content: 'Hello' }] }],
  },
)
export type CountTokensBody = Static<typeof CountTokensBody>

export type MessagesBlock = Static<typeof Block>
export type MessagesTool = Static<typeof ClientTool>
export type MessagesToolChange = Static<(typeof changes)[number]>
