/** Answers of `POST /v1/messages` and `POST /v1/messages/count_tokens`. */
import Type from 'typebox'
import { integer, text } from '../described.ts'
import { policyDecision } from '../inference/policy-decision.ts'
import { creditProperties } from '../inference/writing/credit-fields.ts'
import { jsonObject, JsonObject, OtherThan, receivedOther, tagsOf } from '../inference/reading/request-fields.ts'
import { RedactedThinking, Thinking, ToolUse } from './schema.ts'

const AnswerText = Type.Object(
  {
    type: Type.Literal('text'),
    text: text('The text.'),
    citations: Type.Optional(
      Type.Union([Type.Array(JsonObject), Type.Null()], {
        description: 'The web pages and documents that the text cites.',
      }),
    ),
  },
  { title: 'AnswerTextBlock', examples: [{ type: 'text', text: 'Hello!' }] },
)
const blocks = [AnswerText, ToolUse, Thinking, RedactedThinking] as const
const AnswerBlock = Type.Union([...blocks, OtherThan('OtherAnswerBlock', tagsOf(blocks), receivedOther)])

/** Answer of `POST /v1/messages`. */
export const MessagesAnswer = Type.Object(
  {
    id: text('The id.', { examples: ['msg_01h455vb4pex5vsknk084sn02q'] }),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: text('The model that answered.'),
    content: Type.Array(AnswerBlock, {
      description:
        'Blocks: `text`, with `citations` if web pages are cited; `tool_use`, `thinking`, `redacted_thinking`; of an upstream of this dialect also others.',
      examples: [[{ type: 'text', text: 'Hello!' }]],
    }),
    stop_reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the response ended.',
      examples: ['end_turn', 'max_tokens'],
    }),
    stop_sequence: Type.Union([Type.String(), Type.Null()], { description: 'The stop sequence that ended it.' }),
    usage: Type.Object(
      {
        input_tokens: Type.Integer({
          minimum: 0,
          description: 'Without tokens that were read from or written to a cache.',
        }),
        output_tokens: integer('Output tokens.', { minimum: 0 }),
        cache_creation_input_tokens: Type.Optional(integer('Input tokens written to a cache.', { minimum: 0 })),
        cache_read_input_tokens: Type.Optional(integer('Input tokens read from a cache.', { minimum: 0 })),
      },
      { description: 'The tokens of the call.' },
    ),
    ...creditProperties,
  },
  {
    title: 'Message',
    description: 'A whole message. With `stream: true` the same content is sent as server-sent events.',
    examples: [
      {
        id: 'msg_01h455vb4pex5vsknk084sn02q',
        type: 'message',
        role: 'assistant',
        model: 'gatehouse-echo',
        content: [{ type: 'text', text: '[gatehouse-echo] You said: Hello' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 9, output_tokens: 11, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        remaining_credits: 9988,
        estimated_credits_used: 12,
        estimated_cost_usd: 0.0117,
      },
    ],
  },
)

/** Answer of `POST /v1/messages/count_tokens`. */
export const CountTokensAnswer = Type.Object(
  { input_tokens: integer('Input tokens.', { minimum: 0, examples: [14] }) },
  { title: 'TokenCount', examples: [{ input_tokens: 8 }] },
)

/** The error body of this family. */
export const MessagesError = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object(
      {
        type: text('The type.', { examples: ['invalid_request_error'] }),
        message: text('What happened, which field, and what to do.'),
        details: Type.Optional(
          Type.Object(
            { error_code: Type.Optional(text('The code.', { examples: ['thread_unsupported_request'] })) },
            { description: 'Machine-readable facts, as the Anthropic API and its SDKs define them.' },
          ),
        ),
      },
      { description: 'What went wrong.' },
    ),
    request_id: text('The request, for questions to the operator.'),
    policy: Type.Optional(policyDecision('The rule that denied the request.')),
  },
  { title: 'MessagesErrorBody' },
)

/** An invalid body of `POST /v1/messages/count_tokens`. */
export const TokenCountProblems = Type.Object(
  {
    detail: Type.Array(
      Type.Object({
        loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), { description: 'The path of the field.' }),
        msg: text('What is wrong with it.'),
        type: text('The kind of problem.'),
        input: Type.Unknown({ description: 'The value that was sent.' }),
        ctx: jsonObject('Always empty.'),
      }),
      { description: 'Every problem of the body.' },
    ),
    request_id: text('The request, for questions to the operator.'),
  },
  { title: 'TokenCountProblems' },
)

const index = integer('The position of the block.', { minimum: 0 })
const withType = (description: string) => Type.Object({ type: text('The type.') }, { description })

/** One event of a streamed message. The names of the events are the values of `type`. */
export const MessagesEvent = Type.Union(
  [
    Type.Object(
      {
        type: Type.Literal('message_start'),
        message: Type.Object(
          { id: MessagesAnswer.properties.id, usage: jsonObject('The input tokens.') },
          { description: 'The message without content.' },
        ),
      },
      { title: 'MessageStartEvent' },
    ),
    Type.Object(
      { type: Type.Literal('content_block_start'), index, content_block: withType('The empty block.') },
      { title: 'ContentBlockStartEvent' },
    ),
    Type.Object(
      {
        type: Type.Literal('content_block_delta'),
        index,
        delta: withType(
          'What is added: `text_delta`, `citations_delta`, `input_json_delta`, `thinking_delta` or `signature_delta`.',
        ),
      },
      { title: 'ContentBlockDeltaEvent' },
    ),
    Type.Object({ type: Type.Literal('content_block_stop'), index }, { title: 'ContentBlockStopEvent' }),
    Type.Object(
      {
        type: Type.Literal('message_delta'),
        delta: Type.Object(
          {
            stop_reason: MessagesAnswer.properties.stop_reason,
            stop_sequence: MessagesAnswer.properties.stop_sequence,
          },
          { description: 'Why the response ended.' },
        ),
        usage: MessagesAnswer.properties.usage,
        ...creditProperties,
      },
      { title: 'MessageDeltaEvent' },
    ),
    Type.Object({ type: Type.Literal('message_stop') }, { title: 'MessageStopEvent' }),
    Type.Object({ type: Type.Literal('ping') }, { title: 'PingEvent' }),
    MessagesError,
  ],
  {
    title: 'MessageStreamEvent',
    description:
      'The `data` of one server-sent event; the name of the event is its `type`. An upstream of the same dialect may send further events.',
  },
)
