import Type from 'typebox'
import { integer, text } from '../described.ts'
import { creditProperties } from '../inference/writing/credit-fields.ts'
import { OpenaiErrorBody } from '../inference/openai-errors.ts'
import { JsonObject } from '../inference/reading/request-fields.ts'
import { ToolCall } from './schema.ts'

const annotations = Type.Array(JsonObject, {
  description: 'The web pages that the text cites: `url_citation` with the URL, the title and the cited characters.',
})

/** Answer of `POST /v1/chat/completions`. */
export const ChatAnswer = Type.Object(
  {
    id: text('The id of the completion.', { examples: ['chatcmpl-01h455vb4pex5vsknk084sn02q'] }),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    model: text('The model that answered.'),
    choices: Type.Array(
      Type.Object({
        index: integer('The position of the choice.'),
        message: Type.Object(
          {
            role: Type.Literal('assistant'),
            content: Type.Union([Type.String(), Type.Null()], {
              description: 'The response; null if it only calls tools.',
            }),
            refusal: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Why the model refused.' })),
            annotations: Type.Optional(annotations),
            reasoning_content: Type.Optional(text('The reasoning.')),
            tool_calls: Type.Optional(Type.Array(ToolCall, { description: 'The tools that the model called.' })),
          },
          { description: 'The response.' },
        ),
        finish_reason: text('Why the response ended.', { examples: ['stop'] }),
        logprobs: Type.Optional(Type.Unknown({ description: 'Log probabilities, if the upstream reports them.' })),
      }),
      { description: 'One choice.' },
    ),
    usage: Type.Object(
      {
        prompt_tokens: integer('Input tokens.', { minimum: 0 }),
        completion_tokens: integer('Output tokens.', { minimum: 0 }),
        total_tokens: integer('The sum of both.', { minimum: 0 }),
      },
      { title: 'ChatUsage', description: 'The tokens of the call.' },
    ),
    ...creditProperties,
  },
  {
    title: 'ChatCompletion',
    description: 'A whole completion. With `stream: true` the same content is sent as server-sent events.',
    examples: [
      {
        id: 'chatcmpl-01h455vb4pex5vsknk084sn02q',
        object: 'chat.completion',
        created: 1_767_225_600,
        model: 'gatehouse-echo',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: '[gatehouse-echo] You said: Hello', refusal: null },
            finish_reason: 'stop',
            logprobs: null,
          },
        ],
        usage: { prompt_tokens: 9, completion_tokens: 11, total_tokens: 20 },
        remaining_credits: 9988,
        estimated_credits_used: 12,
        estimated_cost_usd: 0.0117,
      },
    ],
  },
)

const Chunk = Type.Object(
  {
    id: ChatAnswer.properties.id,
    object: Type.Literal('chat.completion.chunk'),
    created: ChatAnswer.properties.created,
    model: ChatAnswer.properties.model,
    choices: Type.Array(
      Type.Object({
        index: integer('The position of the choice.'),
        delta: Type.Object(
          {
            role: Type.Optional(Type.Literal('assistant')),
            content: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'The next text.' })),
            refusal: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'The next text.' })),
            annotations: Type.Optional(annotations),
            reasoning_content: Type.Optional(
              Type.Union([Type.String(), Type.Null()], { description: 'The next text.' }),
            ),
            tool_calls: Type.Optional(
              Type.Array(JsonObject, { description: 'What is added to the calls, by `index`.' }),
            ),
          },
          { description: 'What is added to the response.' },
        ),
        finish_reason: Type.Union([Type.String(), Type.Null()], {
          description: 'Why the response ended, in the last chunk.',
        }),
      }),
      { description: 'One choice; none in the chunk with the usage.' },
    ),
    usage: Type.Optional(
      Type.Union([ChatAnswer.properties.usage, Type.Null()], {
        description: 'With `stream_options.include_usage`, in the last chunk.',
      }),
    ),
    ...Type.Partial(Type.Object(creditProperties)).properties,
  },
  { title: 'ChatCompletionChunk' },
)

/** One event of a streamed completion. */
export const ChatEvent = Type.Union([Chunk, OpenaiErrorBody], {
  title: 'ChatCompletionStreamEvent',
  description:
    'The `data` of one server-sent event: a chunk, or an error after which the stream ends. The last event is the text `[DONE]`.',
})
