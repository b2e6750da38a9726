/** Answers of `/v1/responses`. */
import Type from 'typebox'
import { integer, text } from '../described.ts'
import { policyDecision } from '../inference/policy-decision.ts'
import { creditProperties } from '../inference/writing/credit-fields.ts'
import { jsonObject, JsonObject, OtherThan, receivedOther, tagsOf } from '../inference/reading/request-fields.ts'
import { Refusal } from './schema.ts'

const itemFields = { id: text('The id of the item.'), status: Type.Optional(text('The status.')) }
const AnswerText = Type.Object(
  {
    type: Type.Literal('output_text'),
    text: text('The text.'),
    annotations: Type.Array(JsonObject, { description: 'The web pages and files that the text cites.' }),
  },
  { title: 'ResponseAnswerText' },
)
const parts = [AnswerText, Refusal] as const
const AnswerMessage = Type.Object(
  {
    ...itemFields,
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    content: Type.Array(Type.Union([...parts, OtherThan('OtherAnswerPart', tagsOf(parts), receivedOther)]), {
      description: 'The parts of the message.',
    }),
  },
  { title: 'ResponseOutputMessage' },
)
const AnswerFunctionCall = Type.Object(
  {
    ...itemFields,
    type: Type.Literal('function_call'),
    call_id: text('The id of the call.'),
    name: text('The name of the function.'),
    namespace: Type.Optional(text('The namespace of the tool.')),
    arguments: text('The arguments, as JSON.'),
  },
  { title: 'ResponseOutputFunctionCall' },
)
const AnswerReasoning = Type.Object(
  {
    ...itemFields,
    type: Type.Literal('reasoning'),
    summary: Type.Array(JsonObject, { description: 'The summary of the reasoning.' }),
    content: Type.Optional(Type.Array(JsonObject, { description: 'The reasoning.' })),
    encrypted_content: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'The reasoning, encrypted by the vendor.' }),
    ),
  },
  { title: 'ResponseOutputReasoning' },
)
const items = [AnswerMessage, AnswerFunctionCall, AnswerReasoning] as const
const AnswerItem = Type.Union([...items, OtherThan('OtherOutputItem', tagsOf(items), receivedOther)])

/** Answer of `POST /v1/responses`. */
export const ResponsesAnswer = Type.Object(
  {
    id: text('The id of the response.', { examples: ['resp_01h455vb4pex5vsknk084sn02q'] }),
    object: Type.Literal('response'),
    status: text('The status.', { examples: ['completed', 'incomplete'] }),
    model: text('The model that answered.'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    output: Type.Array(AnswerItem, {
      description: 'Items: `message` with `output_text` parts, `function_call`, `reasoning`.',
    }),
    usage: Type.Object(
      {
        input_tokens: integer('Input tokens.', { minimum: 0 }),
        output_tokens: integer('Output tokens.', { minimum: 0 }),
        total_tokens: integer('The sum of both.', { minimum: 0 }),
      },
      { description: 'The tokens of the call.' },
    ),
    ...creditProperties,
  },
  {
    title: 'ResponseObject',
    description: 'A whole response. With `stream: true` the same content is sent as server-sent events.',
    examples: [
      {
        id: 'resp_01h455vb4pex5vsknk084sn02q',
        object: 'response',
        status: 'completed',
        model: 'gatehouse-echo',
        created_at: 1_767_225_600,
        output: [
          {
            id: 'msg_01h455vb4pex5vsknk084sn02q00',
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text: '[gatehouse-echo] You said: Hello', annotations: [] }],
          },
        ],
        usage: { input_tokens: 9, output_tokens: 11, total_tokens: 20 },
        remaining_credits: 9988,
        estimated_credits_used: 12,
        estimated_cost_usd: 0.0117,
      },
    ],
  },
)

const FlatError = Type.Object(
  {
    error: text('What happened, which field, and what to do.', { examples: ['input: is required'] }),
    code: text('Stable and machine-readable; `/docs/errors` explains every code.', { examples: ['invalid_parameter'] }),
    request_id: text('The request, for questions to the operator.'),
    policy: Type.Optional(policyDecision('The rule that denied the request.')),
  },
  { title: 'ResponsesFlatError' },
)

const LimitError = Type.Object(
  {
    error: Type.Object(
      {
        message: text('What happened, and how long to wait.'),
        type: Type.Literal('rate_limit_error'),
        param: Type.Null({ description: 'Always null.' }),
        code: Type.Enum(['rate_limit_exceeded', 'budget_exceeded'], { description: 'A limit, or a budget.' }),
      },
      { description: 'What went wrong.' },
    ),
    request_id: text('The request, for questions to the operator.'),
  },
  { title: 'ResponsesLimitError', description: 'The body of a 429.' },
)

/** The error bodies of this family: flat, except for a 429. */
export const ResponsesError = Type.Union([FlatError, LimitError], { title: 'ResponsesErrorBody' })

export const InputTokensAnswer = Type.Object(
  {
    object: Type.Literal('response.input_tokens'),
    input_tokens: integer('Input tokens.', { minimum: 0, examples: [14] }),
  },
  { title: 'InputTokens', examples: [{ object: 'response.input_tokens', input_tokens: 8 }] },
)

/** One event of a streamed response. */
export const ResponsesEvent = Type.Object(
  {
    type: text('The name of the event.', {
      examples: ['response.created', 'response.output_text.delta', 'response.completed'],
    }),
    sequence_number: integer('The position of the event in the stream.', { minimum: 0 }),
    response: Type.Optional(
      jsonObject('The response so far, in events about the whole response; complete in `response.completed`.'),
    ),
    output_index: Type.Optional(integer('The position of the item, in events about an item.', { minimum: 0 })),
    item: Type.Optional(jsonObject('The item, in `response.output_item.added` and `response.output_item.done`.')),
    delta: Type.Optional(text('What is added, in events that end with `.delta`.')),
  },
  {
    title: 'ResponseStreamEvent',
    description:
      'The `data` of one server-sent event; the name of the event is its `type`. A failed stream ends with `error` and `response.failed`.',
  },
)
