/** Bodies of `POST /v1/messages` and `POST /v1/messages/count_tokens`, and their answers. Unknown fields pass. */
import Type, { type Static } from 'typebox'
import { creditProperties } from '../inference/writing/credit-fields.ts'
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

const CacheControl = Nullish(Type.Object({ ttl: Type.Optional(Type.String()) }))

const Text = Type.Object(
  { type: Type.Literal('text'), text: Type.String(), cache_control: CacheControl },
  { title: 'TextBlock', examples: [{ type: 'text', text: 'Hello' }] },
)

const Base64Source = Type.Object({ type: Type.Literal('base64'), media_type: Type.String(), data: Type.String() })
const UrlSource = Type.Object({ type: Type.Literal('url'), url: Type.String() })
const FileSource = Type.Object({ type: Type.Literal('file'), file_id: Type.String() })
const TextSource = Type.Object({ type: Type.Literal('text'), data: Type.String() })
const ContentSource = Type.Object({
  type: Type.Literal('content'),
  content: Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))]),
})

const Image = Type.Object(
  {
    type: Type.Literal('image'),
    source: Type.Union([Base64Source, UrlSource, FileSource]),
    cache_control: CacheControl,
  },
  { title: 'ImageBlock' },
)
const Document = Type.Object(
  {
    type: Type.Literal('document'),
    source: Type.Union([Base64Source, TextSource, UrlSource, FileSource, ContentSource]),
    title: Nullish(Type.String()),
    cache_control: CacheControl,
  },
  { title: 'DocumentBlock' },
)
const SearchResult = Type.Object(
  {
    type: Type.Literal('search_result'),
    source: Type.String(),
    title: Type.String(),
    content: Type.Array(Text),
    cache_control: CacheControl,
  },
  { title: 'SearchResultBlock' },
)
const ToolReference = Type.Object(
  { type: Type.Literal('tool_reference'), tool_name: Type.String() },
  { title: 'ToolReferenceBlock' },
)

const resultBlocks = [Text, Image, Document, SearchResult, ToolReference] as const

const ToolResult = Type.Object(
  {
    type: Type.Literal('tool_result'),
    tool_use_id: Type.String({ minLength: 1 }),
    content: Nullish(
      Type.Union([Type.String(), Type.Array(Type.Union([...resultBlocks, OtherThan(tagsOf(resultBlocks))]))]),
    ),
    is_error: Nullish(Type.Boolean()),
    cache_control: CacheControl,
  },
  { title: 'ToolResultBlock' },
)
const ToolUse = Type.Object(
  {
    type: Type.Literal('tool_use'),
    id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    input: JsonObject,
  },
  { title: 'ToolUseBlock' },
)
const Thinking = Type.Object(
  {
    type: Type.Literal('thinking'),
    thinking: Type.String(),
    signature: Type.Optional(Type.String()),
  },
  { title: 'ThinkingBlock' },
)
const RedactedThinking = Type.Object(
  { type: Type.Literal('redacted_thinking'), data: Type.String() },
  { title: 'RedactedThinkingBlock' },
)

const ClientTool = Type.Object(
  {
    type: Nullish(Type.Literal('custom')),
    name: Type.String({ minLength: 1, maxLength: 256 }),
    description: Type.Optional(Type.String()),
    input_schema: JsonObject,
    strict: Nullish(Type.Boolean()),
    cache_control: CacheControl,
  },
  { title: 'Tool' },
)

const AnyTool = Type.Union([ClientTool, OtherThan(['custom'])])

/** A tool that is added or removed during the conversation, by its name or with its definition. */
const ToolChange = <Change extends 'tool_addition' | 'tool_removal'>(change: Change) =>
  Type.Object({
    type: Type.Literal(change),
    tool: Type.Object({ name: Type.Optional(Type.String()), definition: Type.Optional(AnyTool) }),
  })
const changes = [ToolChange('tool_addition'), ToolChange('tool_removal')] as const

const blocks = [...resultBlocks, ...changes, ToolUse, ToolResult, Thinking, RedactedThinking] as const
const Block = Type.Union([...blocks, OtherThan(tagsOf(blocks))])
const Content = Type.Union([Type.String(), Type.Array(Block)])

const Role = Type.Enum(['user', 'assistant', 'system'])
const messageFields = {
  content: Content,
  clear_at: Nullish(
    Type.String({ description: 'For a system message: `next_user_message` if it applies only until then.' }),
  ),
  output_config: Nullish(Type.Object({ effort: Nullish(Type.String()) })),
}
const Message = Type.Object(
  { role: Role, ...messageFields },
  { title: 'InputMessage', examples: [{ role: 'user', content: 'Hello' }] },
)

const ToolChoice = Type.Object(
  {
    type: Type.Optional(Type.Enum(['auto', 'any', 'tool', 'none'])),
    name: Type.Optional(Type.String()),
    disable_parallel_tool_use: Type.Optional(Type.Boolean()),
  },
  { title: 'ToolChoice' },
)

const OutputFormat = Type.Object({ type: Type.Literal('json_schema'), schema: JsonObject }, { title: 'OutputFormat' })

/** The fields of both endpoints. */
const shared = {
  model: Model,
  system: Type.Optional(Type.Union([Type.String(), Type.Array(Text)], { description: 'System prompt.' })),
  tools: Type.Optional(
    Type.Array(AnyTool, { description: 'Tools that the caller defines, or vendor tools by `type`.' }),
  ),
  tool_choice: Type.Optional(ToolChoice),
  thinking: Type.Optional(
    Type.Object({
      type: Type.Optional(Type.String({ examples: ['adaptive'] })),
      budget_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
      display: Nullish(Type.String()),
    }),
  ),
  output_config: Type.Optional(Type.Object({ effort: Nullish(Type.String()), format: Nullish(OutputFormat) })),
  context_management: Nullish(
    Type.Object(
      { edits: Type.Optional(Type.Array(Type.Object({ type: Type.String(), keep: Type.Optional(Type.Unknown()) }))) },
      {
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
    messages: Type.Array(Message, { minItems: 1 }),
    max_tokens: Type.Optional(OutputLimit),
    temperature: Type.Optional(Temperature),
    top_p: Type.Optional(TopP),
    top_k: Type.Optional(Type.Integer({ minimum: 0 })),
    stop_sequences: Type.Optional(Type.Array(Type.String())),
    stream: Type.Optional(Stream),
    metadata: Type.Optional(Type.Object({ user_id: Nullish(Type.String()) })),
    output_format: Nullish(OutputFormat),
    flagged_categories: Type.Optional(FlaggedCategories),
  },
  {
    title: 'MessageRequest',
    description: 'A request in the style of the Anthropic Messages API.',
    examples: [{ model: 'default-model', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] }],
  },
)
export type MessagesBody = Static<typeof MessagesBody>

/** Body of `POST /v1/messages/count_tokens`. A message without a role is the user's. */
export const CountTokensBody = Type.Object(
  { ...shared, messages: Type.Array(Type.Object({ role: Type.Optional(Role), ...messageFields }), { minItems: 1 }) },
  {
    title: 'CountTokensRequest',
    examples: [{ model: 'default-model', messages: [{ role: 'user', content: 'Hello' }] }],
  },
)
export type CountTokensBody = Static<typeof CountTokensBody>

export type MessagesBlock = Static<typeof Block>
export type MessagesTool = Static<typeof ClientTool>
export type MessagesToolChange = Static<(typeof changes)[number]>

/** Answer of `POST /v1/messages`. */
export const MessagesAnswer = Type.Object(
  {
    id: Type.String({ examples: ['msg_01h455vb4pex5vsknk084sn02q'] }),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(Type.Object({ type: Type.String() }), {
      description: 'Blocks: `text` with `text`, `tool_use`, `thinking`, `redacted_thinking`.',
      examples: [[{ type: 'text', text: 'Hello!' }]],
    }),
    stop_reason: Type.Union([Type.String(), Type.Null()], { examples: ['end_turn', 'max_tokens'] }),
    stop_sequence: Type.Union([Type.String(), Type.Null()]),
    usage: Type.Object({
      input_tokens: Type.Integer({
        minimum: 0,
        description: 'Without tokens that were read from or written to a cache.',
      }),
      output_tokens: Type.Integer({ minimum: 0 }),
      cache_creation_input_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
      cache_read_input_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    ...creditProperties,
  },
  {
    title: 'Message',
    description: 'A whole message. With `stream: true` the same content is sent as server-sent events.',
  },
)

/** Answer of `POST /v1/messages/count_tokens`. */
export const CountTokensAnswer = Type.Object(
  { input_tokens: Type.Integer({ minimum: 0, examples: [14] }) },
  { title: 'TokenCount' },
)

/** The error body of this family. */
export const MessagesError = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object({ type: Type.String({ examples: ['invalid_request_error'] }), message: Type.String() }),
    request_id: Type.String(),
    policy: Type.Optional(JsonObject),
  },
  { title: 'MessagesErrorBody' },
)
