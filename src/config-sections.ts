import Type from 'typebox'

/**
 * One schema is the file's grammar, the environment's grammar and the manual: `docs/configuration.md` is generated
 * from it. `env` names the variable that overrides a key.
 */
export const section = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description, default: {} })

/** As a section, but it exists only where it is written. */
export const entry = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })

export const Server = section(
  {
    host: Type.String({ default: '127.0.0.1', env: 'GATEHOUSE_HOST', description: 'Address to listen on.' }),
    port: Type.Integer({
      default: 8080,
      minimum: 0,
      maximum: 65_535,
      env: 'GATEHOUSE_PORT',
      description: 'Port of the API, the docs and the console. 0 takes a free one.',
    }),
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'Address that callers use, where it differs from host and port; error bodies link to it.',
      }),
    ),
    trust_proxy: Type.Boolean({
      default: false,
      description: 'Believe `X-Forwarded-For`. Only behind a proxy that sets it itself.',
    }),
    request_timeout_ms: Type.Integer({
      default: 60_000,
      minimum: 100,
      description: 'How long a caller may take to send its headers and body.',
    }),
    auth_failures_per_minute: Type.Integer({
      default: 100,
      minimum: 1,
      description:
        'Keys and tokens of an address that were looked up in vain before further ones that we have not met are refused unseen.',
    }),
  },
  'The door.',
)

export const Storage = section(
  {
    data_dir: Type.String({
      default: './data',
      env: 'GATEHOUSE_DATA_DIR',
      description: 'Where the embedded database, its secret and the control socket live.',
    }),
    database_url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        env: 'DATABASE_URL',
        description: 'A PostgreSQL address. Set it to run more than one node; `GATEHOUSE_SECRET` is then required.',
      }),
    ),
    redis_url: Type.Optional(
      Type.String({
        pattern: '^rediss?://',
        env: 'REDIS_URL',
        description:
          'A Redis or Valkey address, for limits that all nodes share. Without it each node counts for itself, and of several each has its share.',
      }),
    ),
    redis_timeout_ms: Type.Integer({
      default: 50,
      minimum: 1,
      maximum: 10_000,
      description: 'How long Redis may take to answer before a node counts by itself.',
    }),
  },
  'Where everything that must last is kept.',
)

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
    api_key: Type.Optional(Type.String({ minLength: 1, description: 'Its key; take it from a variable: `${NAME}`.' })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Headers to send along with every call.' }),
    ),
    takes_effort: Type.Optional(
      Type.Boolean({
        description:
          'Whether an `openai-chat` upstream takes `reasoning_effort`. OpenAI does; of others some refuse it, so it is left out unless this is true.',
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
      description: 'Longest wait for the answer to begin.',
    }),
    idle_timeout_ms: Type.Integer({ default: 300_000, minimum: 1, description: 'Longest silence within an answer.' }),
    max_concurrent: Type.Integer({
      default: 512,
      minimum: 1,
      description: 'Calls under way at once; more wait their turn elsewhere or fail over.',
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

const limit = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} 0 lifts the limit.` }))

export const Tier = entry(
  {
    rpm: limit('Requests a minute of a key; a project has 1.5 times, an organization twice as many.'),
    rpd: limit('Requests a day of a key, likewise.'),
    tpm: limit('Tokens a minute of a key, likewise.'),
    tpd: limit('Tokens a day of an organization.'),
    concurrent: Type.Optional(
      entry(
        {
          key: limit('Of a key.'),
          project: limit('Of a project.'),
          organization: limit('Of an organization.'),
        },
        'Requests at once.',
      ),
    ),
  },
  'What a tier has in place of the published values.',
)

export const Jwt = entry(
  {
    issuer: Type.String({ minLength: 1, description: 'The `iss` that tokens must carry.' }),
    audience: Type.String({ minLength: 1, description: 'The `aud` that tokens must carry.' }),
    jwks_url: Type.Optional(Type.String({ pattern: '^https?://', description: 'Where the issuer’s public keys are.' })),
    secret: Type.Optional(Type.String({ minLength: 32, description: 'A shared HS256 secret, instead of `jwks_url`.' })),
    algorithms: Type.Array(Type.Enum(['EdDSA', 'ES256', 'PS256', 'RS256', 'HS256']), {
      default: ['EdDSA', 'ES256', 'PS256', 'RS256'],
      description: 'Signatures that are believed. With `secret`, HS256 alone.',
    }),
  },
  'Tokens of your identity provider. Off unless given.',
)

export const Audit = section(
  {
    requests: Type.Boolean({ default: true, description: 'Write an event for each inference request.' }),
    content: Type.Enum(['none', 'redacted', 'full'], {
      default: 'none',
      description: 'Which texts of prompts and answers are kept beside their events, where they can be erased.',
    }),
    retention_days: Type.Integer({
      default: 180,
      minimum: 1,
      maximum: 36_500,
      description: 'How long events are kept.',
    }),
    on_failure: Type.Enum(['refuse', 'continue'], {
      default: 'continue',
      description:
        'What becomes of requests while the log cannot be written: 503; or answered, and their events wait on this node’s disk (with embedded storage, where there is no other disk, they are counted and told of in the log later).',
    }),
  },
  'What is written down about what happens.',
)

export const Exports = section(
  {
    allow_addresses: Type.Array(Type.String(), {
      default: [],
      description:
        'Networks (CIDR) that sinks may reach although they are private. There, plain http and any port are allowed.',
    }),
    max_backlog_days: Type.Integer({
      default: 14,
      minimum: 0,
      maximum: 3650,
      description: 'How much longer than `audit.retention_days` events are kept for a sink that is down.',
    }),
    alarm_after_hours: Type.Number({
      default: 24,
      exclusiveMinimum: 0,
      description:
        'A sink that has failed for so long, or whose oldest event has waited so long, is told of in the log.',
    }),
    alarm_after_events: Type.Integer({
      default: 1_000_000,
      minimum: 1,
      description: 'The same for so many events that wait.',
    }),
    aws: Type.Optional(
      entry(
        {
          access_key_id: Type.String({ minLength: 1, description: 'Its id.' }),
          secret_access_key: Type.String({ minLength: 1, description: 'Take it from a variable: `${NAME}`.' }),
          session_token: Type.Optional(Type.String({ minLength: 1, description: 'For temporary credentials.' })),
        },
        'The identity at AWS that assumes the roles of `s3` sinks. Without it they need access keys.',
      ),
    ),
  },
  'Where the audit log may be sent.',
)

export const administrationLimit = (requestsPerMinute: number, concurrentRequests: number, description: string) =>
  section(
    {
      requests_per_minute: Type.Integer({
        default: requestsPerMinute,
        minimum: 1,
        description: 'Requests begun in any minute.',
      }),
      concurrent_requests: Type.Integer({
        default: concurrentRequests,
        minimum: 1,
        description: 'Requests under way at once.',
      }),
    },
    description,
  )
