import Type from 'typebox'
import { entry, section } from './section.ts'

export const Upstream = entry(
  {
    name: Type.String({ minLength: 1, maxLength: 64, description: 'What models call it.' }),
    kind: Type.Enum(['openai-chat', 'openai-responses', 'anthropic', 'echo'], {
      description: 'The dialect it speaks.',
    }),
    base_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'Its address, as its own SDK would be given it; its vendor’s when left out.',
      }),
    ),
    api_key: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Its key; take it from a variable or a file: `${NAME}`, `${file:/path}`.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Headers to send along with every call.' }),
    ),
    takes_effort: Type.Optional(
      Type.Boolean({
        description:
          'Whether an `openai-chat` upstream takes `reasoning_effort`. OpenAI does; of others some refuse it, so it is left out unless this is true.',
      }),
    ),
    takes_reasoning: Type.Optional(
      Type.Boolean({
        description:
          'True for an `openai-chat` upstream that wants a model’s earlier thinking back as `reasoning_content`, as DeepSeek and Kimi do between tool calls.',
      }),
    ),
    streams: Type.Optional(
      Type.Boolean({
        description:
          'False for an `openai-chat` upstream that loses tool calls while it streams: it is asked for whole answers, and callers still get a stream.',
      }),
    ),
    timeout_ms: Type.Integer({ default: 600_000, minimum: 1, description: 'Longest a whole call may take.' }),
    connect_timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 1,
      description: 'Longest a connection may take to open.',
    }),
    first_byte_timeout_ms: Type.Integer({
      default: 300_000,
      minimum: 1,
      description:
        'Longest wait for the answer to begin: for the first event that is part of it, or the first byte of its JSON. Headers, comments, pings and blank lines do not count.',
    }),
    idle_timeout_ms: Type.Integer({
      default: 300_000,
      minimum: 1,
      description:
        'Longest silence within an answer that has begun. Any byte ends it, pings too: some upstreams send nothing else while a model thinks. `timeout_ms` bounds them.',
    }),
    max_concurrent: Type.Integer({
      default: 512,
      minimum: 1,
      description: 'Calls under way at once; more wait their turn elsewhere or fail over.',
    }),
    max_answer_bytes: Type.Integer({
      default: 16_777_216,
      minimum: 65_536,
      maximum: 268_435_456,
      description:
        'The longest whole answer that is taken from it, the longest single event of a stream, and the most text that a stream may have; a stream may have eight times as many bytes in all. Counted after decompression. Over it the call is ended, and fails like one that the upstream has failed.',
    }),
  },
  'An upstream that serves models.',
)

export const Model = entry(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'What callers say. A trailing `*` takes every name that begins so and passes the name on.',
    }),
    targets: Type.Array(
      entry(
        {
          upstream: Type.String({ description: 'Name of an upstream.' }),
          model: Type.Optional(
            Type.String({ minLength: 1, description: 'The upstream’s name for it; the caller’s own when left out.' }),
          ),
        },
        'An upstream model.',
      ),
      {
        minItems: 1,
        description: 'Tried in order; the next on a connection error, 408, 429 or 5xx before the first byte.',
      },
    ),
    context_tokens: Type.Integer({
      default: 200_000,
      minimum: 1,
      description: 'How much it can read and write in all.',
    }),
    max_output_tokens: Type.Integer({
      default: 8192,
      minimum: 1,
      description: 'The most it writes, and the cap where a caller names none.',
    }),
    price: section(
      {
        input: Type.Number({ default: 0, minimum: 0, description: 'Uncached input.' }),
        output: Type.Number({ default: 0, minimum: 0, description: 'Output, thinking included.' }),
        cache_read: Type.Optional(
          Type.Number({ minimum: 0, description: 'Input read from the cache; the input price when left out.' }),
        ),
        cache_write: Type.Optional(
          Type.Number({ minimum: 0, description: 'Input written to the cache; the input price when left out.' }),
        ),
      },
      'USD per million tokens.',
    ),
    free_tier: Type.Boolean({ default: false, description: 'Serves the anonymous free request.' }),
  },
  'A model that callers may name.',
)
