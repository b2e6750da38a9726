import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { upstreamKinds } from '../wire/upstream-kinds.ts'
import { entry, section } from './section.ts'

export const Upstream = entry(
  {
    name: Type.String({ minLength: 1, maxLength: 64, description: 'Name by which `models` refer to it.' }),
    kind: Type.Enum([...upstreamKinds], {
      description: 'API that the upstream implements.',
    }),
    server: Type.Optional(
      Type.Enum(['openai', 'llama.cpp', 'llama-cpp-python', 'ollama', 'vllm', 'lm-studio', 'sglang'], {
        description:
          'Software of an `openai-chat` upstream. The gateway then sends requests in the form that this software accepts. Default: `openai` at an address of OpenAI or Azure, otherwise the form that every open-source server accepts.',
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description:
          'Base URL, in the form that the SDK of the vendor expects. Default: the usual address of `server` on this machine, or the URL of the vendor.',
      }),
    ),
    api_key: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'API key. Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Headers that are added to every call.' }),
    ),
    takes_effort: Type.Optional(
      Type.Boolean({
        description:
          'Whether the models of an `openai-chat` upstream accept `reasoning_effort`. Default: true for OpenAI, llama.cpp, vLLM and SGLang. Other servers reject it for some models.',
      }),
    ),
    takes_reasoning: Type.Optional(
      Type.Boolean({
        description:
          'True for an `openai-chat` upstream that needs the earlier reasoning of the model between tool calls, as DeepSeek and Kimi do. It is sent as `reasoning_content`, to Ollama and vLLM as `reasoning`.',
      }),
    ),
    streams: Type.Optional(
      Type.Boolean({
        description:
          'False for an `openai-chat` upstream that loses tool calls in streams. The gateway then calls it without streaming, and callers still get a stream.',
      }),
    ),
    trace: Type.Optional(
      Type.Boolean({
        description:
          'Whether the upstream gets the headers `traceparent` and `tracestate`. Default: false, because they let a vendor connect the requests of your users.',
      }),
    ),
    timeout_ms: Type.Integer({ default: 600_000, minimum: 1, description: 'Timeout of a whole call.' }),
    connect_timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 1,
      description: 'Timeout for opening a connection.',
    }),
    first_byte_timeout_ms: Type.Integer({
      default: 300_000,
      minimum: 1,
      description:
        'Timeout until the response begins: until the first event that is part of it, or the first byte of its JSON. Headers, comments, pings and blank lines do not count.',
    }),
    idle_timeout_ms: Type.Integer({
      default: 300_000,
      minimum: 1,
      description:
        'Timeout between two bytes of a response that has begun. Pings count as bytes, because some upstreams send nothing else while a model reasons; `timeout_ms` still applies.',
    }),
    max_concurrent: Type.Integer({
      default: 512,
      minimum: 1,
      description:
        'Concurrent calls. Above that, a call fails over to the next target; at the last target it waits in a queue.',
    }),
    queue_timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 0,
      maximum: 600_000,
      description:
        'Longest wait for one of the `max_concurrent` calls, in the order of arrival. After it, the caller gets 503 (529 in `/v1/messages`) with `Retry-After`. 0: no waiting.',
    }),
    max_answer_bytes: Type.Integer({
      default: 16_777_216,
      minimum: 65_536,
      maximum: 268_435_456,
      description:
        'Largest response without streaming, largest single event of a stream, and most text in a stream; a stream may have eight times as many bytes in total, a response of embeddings four times. Counted after decompression. A call above it is aborted, and fails like an upstream error.',
    }),
  },
  'A service that runs models.',
)

export const Model = entry(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Name that callers use. A trailing `*` matches every name with this prefix, and the upstream gets the name of the caller.',
    }),
    targets: Type.Array(
      entry(
        {
          upstream: Type.String({ description: 'Name of an upstream.' }),
          model: Type.Optional(
            Type.String({
              minLength: 1,
              description: 'Name of the model at the upstream. Default: the name that the caller used.',
            }),
          ),
        },
        'An upstream and its model.',
      ),
      {
        minItems: 1,
        description:
          'Tried in order. The next one is used after a connection error, 408, 429 or 5xx before the first byte.',
      },
    ),
    operations: Type.Optional(
      Type.Array(Type.Enum(['chat', 'embeddings']), {
        minItems: 1,
        description:
          'What the model is for. A request for anything else gets 400. Default: whatever its upstreams accept. `embeddings` needs an upstream of kind `openai-chat`, `openai-responses` or `echo`.',
      }),
    ),
    context_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Context window: input and output tokens together. Default: what the upstream lists; otherwise 200000 bounds what a request may use, and `GET /v1/models` names no size.',
      }),
    ),
    max_output_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Most output tokens of a response, and the limit of a request that names none. Default: a request that names none gets 8192 where a limit is needed: at an `anthropic` upstream, for the credits that a request holds (a metered organization and a model with a price), and for a token quota. Without any of these, the upstream gets no limit. Reasoning comes on top of that default: the budget of the requested effort is added.',
      }),
    ),
    price: section(
      {
        input: Type.Number({ default: 0, minimum: 0, description: 'Input tokens that are not cached.' }),
        output: Type.Number({ default: 0, minimum: 0, description: 'Output tokens, including reasoning.' }),
        cache_read: Type.Optional(
          Type.Number({ minimum: 0, description: 'Input tokens read from the cache. Default: the input price.' }),
        ),
        cache_write: Type.Optional(
          Type.Number({ minimum: 0, description: 'Input tokens written to the cache. Default: the input price.' }),
        ),
      },
      'Price in USD per million tokens.',
    ),
    free_tier: Type.Boolean({ default: false, description: 'Whether the anonymous free request may use it.' }),
  },
  'A model that callers may use.',
)

/** The settings of an upstream with the defaults of those that are missing. */
export const completeUpstream = (settings: Readonly<Record<string, unknown>>): Static<typeof Upstream> =>
  Value.Default(Upstream, structuredClone(settings)) as Static<typeof Upstream>

/** The settings of a model with the defaults of those that are missing. */
export const completeModel = (settings: Readonly<Record<string, unknown>>): Static<typeof Model> =>
  Value.Default(Model, structuredClone(settings)) as Static<typeof Model>
