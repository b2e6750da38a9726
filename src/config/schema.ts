import Type, { type Static } from 'typebox'
import { Moderation, Policies } from './governance.ts'
import { Audit, Exports } from './audit.ts'
import { administrationLimit, Tier } from './limits.ts'
import { Model, Upstream } from './models.ts'
import { section } from './section.ts'
import { Jwt, Server, Storage } from './server.ts'

/** Everything that can be set. */
export const ConfigSchema = section(
  {
    server: Server,
    storage: Storage,
    secret: Type.Optional(
      Type.String({
        minLength: 16,
        env: 'GATEHOUSE_SECRET',
        envFile: true,
        description:
          'Derives the key pepper and the encryption key. Made and kept in the data folder when storage is embedded.',
      }),
    ),
    secret_previous: Type.Optional(
      Type.String({
        minLength: 16,
        env: 'GATEHOUSE_SECRET_PREVIOUS',
        envFile: true,
        description:
          'The secret before, while it is rotated: what was made under it still works. See [the guide](guide/secrets.md).',
      }),
    ),
    secret_next: Type.Optional(
      Type.String({
        minLength: 16,
        env: 'GATEHOUSE_SECRET_NEXT',
        envFile: true,
        description: 'The secret to come: set it on every node before the first one uses it as `secret`.',
      }),
    ),
    log: section(
      {
        level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          env: 'GATEHOUSE_LOG_LEVEL',
          description: 'The least important line that is still written.',
        }),
      },
      'What is written to standard output.',
    ),
    setup: section(
      {
        keys_file: Type.Optional(
          Type.String({
            minLength: 1,
            env: 'GATEHOUSE_KEYS_FILE',
            description:
              'A file for the keys of the first start, as JSON that only its owner may read. It must not exist yet. Without it they are printed, and are then in the log where standard output is one.',
          }),
        ),
      },
      'What the first start and `gatehouse setup` make.',
    ),
    upstreams: Type.Array(Upstream, { default: [], description: 'Where models are served.' }),
    models: Type.Array(Model, { default: [], description: 'What callers may ask for.' }),
    credits: section(
      {
        credit_usd: Type.Number({ default: 0.001, exclusiveMinimum: 0, description: 'What one credit is worth.' }),
        starting: Type.Integer({
          default: 10_000,
          minimum: 0,
          maximum: 1_000_000_000,
          description: 'Credits that a new organization is given.',
        }),
      },
      'What use is paid with.',
    ),
    limits: section(
      {
        count_refused: Type.Enum(['none', 'key', 'all'], {
          default: 'key',
          description: 'In which scopes a request that a limit refused still counts as a request.',
        }),
        tiers: section(
          {
            free: Type.Optional(Tier),
            tier_1: Type.Optional(Tier),
            tier_2: Type.Optional(Tier),
            tier_3: Type.Optional(Tier),
            tier_4: Type.Optional(Tier),
            tier_5: Type.Optional(Tier),
          },
          'Changes to the published table of limits, by tier.',
        ),
      },
      'How much callers may ask for.',
    ),
    responses: section(
      {
        retention_days: Type.Integer({
          default: 30,
          minimum: 1,
          maximum: 3650,
          description:
            'How long answers of `/v1/responses` can be read and built on. Callers turn it off with `store: false`.',
        }),
      },
      'State of the responses endpoint.',
    ),
    free_tier: section(
      {
        daily_requests: Type.Integer({
          default: 100,
          minimum: 0,
          description: 'Anonymous free requests per UTC day over all clients. 0 turns them off.',
        }),
        max_output_tokens: Type.Integer({
          default: 256,
          minimum: 1,
          description: 'The most that a free answer may have.',
        }),
      },
      'The single anonymous free request (`X-Free-Tier: true`).',
    ),
    administration: section(
      {
        credential: administrationLimit(120, 10, 'For each administrator key.'),
        organization: administrationLimit(600, 40, 'For all keys of an organization together.'),
      },
      'Limits of the administration interface, counted on each node.',
    ),
    keys: section(
      {
        default_permissions: Type.Array(Type.Enum(['gateway:read', 'gateway:write', 'exports:read', 'exports:write']), {
          default: [],
          description:
            'What a project API key may do besides inference where its creation does not say. The key of the first start has all four.',
        }),
      },
      'Keys that are created later.',
    ),
    policies: Policies,
    moderation: Moderation,
    audit: Audit,
    exports: Exports,
    auth: section({ jwt: Type.Optional(Jwt) }, 'Who may ask, besides keys.'),
  },
  'Everything that can be set.',
)

export type Config = Static<typeof ConfigSchema>
