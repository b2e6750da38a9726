import Type, { type Static } from 'typebox'
import { Explanations, Moderation, Policies } from './evaluation.ts'
import { Audit, Exports } from './audit.ts'
import { Budgets } from './budgets.ts'
import { Console } from './console.ts'
import { administrationLimit, Tier } from './limits.ts'
import { Mail } from './mail.ts'
import { Model, Upstream } from './models.ts'
import { section } from './section.ts'
import { Jwt, Server, Storage } from './server.ts'
import { Traces } from './traces.ts'

/** The whole configuration. */
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
          'Server secret. The pepper of key hashes and the encryption keys are derived from it. With embedded storage it is created in the data folder.',
      }),
    ),
    secret_previous: Type.Optional(
      Type.String({
        minLength: 16,
        env: 'GATEHOUSE_SECRET_PREVIOUS',
        envFile: true,
        description:
          'Previous server secret during a rotation; keys and data made with it still work. See [the guide](guide/secrets.md).',
      }),
    ),
    secret_next: Type.Optional(
      Type.String({
        minLength: 16,
        env: 'GATEHOUSE_SECRET_NEXT',
        envFile: true,
        description: 'Next server secret. Set it on every node before the first node uses it as `secret`.',
      }),
    ),
    log: section(
      {
        level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          env: 'GATEHOUSE_LOG_LEVEL',
          description: 'Lowest level that is logged.',
        }),
      },
      'The log on standard output.',
    ),
    setup: section(
      {
        keys_file: Type.Optional(
          Type.String({
            minLength: 1,
            env: 'GATEHOUSE_KEYS_FILE',
            description:
              'File for the keys of the first start, as JSON with access for its owner only. It must not exist yet. Without it the keys, and a link that signs in to the console once, are printed to standard output, which may be collected as a log.',
          }),
        ),
      },
      'What the first start and `gatehouse setup` create.',
    ),
    upstreams: Type.Array(Upstream, { default: [], description: 'Services that run models.' }),
    models: Type.Array(Model, { default: [], description: 'Models that callers may use.' }),
    credits: section(
      {
        credit_usd: Type.Number({ default: 0.001, exclusiveMinimum: 0, description: 'Value of one credit in USD.' }),
        starting: Type.Integer({
          default: 10_000,
          minimum: 0,
          maximum: 1_000_000_000,
          description: 'Credits of a new organization.',
        }),
        administrators_manage: Type.Boolean({
          default: true,
          description:
            'Whether administrator keys with `credits:write` may grant credits to their own organization, and set its plan and limits. False: only the operator may, on the machine. Set it to false if you host the organizations of others.',
        }),
        retention_days: Type.Optional(
          Type.Integer({
            minimum: 31,
            maximum: 36_500,
            description:
              'How long the charge of each request and its ledger entry are kept, and at least as long as `audit.retention_days`. Then whole months are verified and replaced by one balance. Default: for ever.',
          }),
        ),
      },
      'Credits, with which organizations pay for usage.',
    ),
    limits: section(
      {
        count_refused: Type.Enum(['none', 'key', 'all'], {
          default: 'key',
          description: 'Scopes in which a request that was rejected by a limit still counts as a request.',
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
          'Overrides of the published limits, by tier.',
        ),
      },
      'Rate limits.',
    ),
    budgets: Budgets,
    mail: Mail,
    console: Console,
    responses: section(
      {
        retention_days: Type.Integer({
          default: 30,
          minimum: 1,
          maximum: 3650,
          description:
            'How long responses of `/v1/responses` are stored, to be read or continued. Callers turn storage off with `store: false`.',
        }),
      },
      'Stored responses of `/v1/responses`.',
    ),
    free_tier: section(
      {
        daily_requests: Type.Integer({
          default: 100,
          minimum: 0,
          description:
            'Anonymous free requests per UTC day, for all clients together; a blocked one counts for its client only. 0 turns them off.',
        }),
        max_output_tokens: Type.Integer({
          default: 256,
          minimum: 1,
          description: 'Most output tokens of a free response.',
        }),
      },
      'The single anonymous free request (`X-Free-Tier: true`).',
    ),
    administration: section(
      {
        credential: administrationLimit(120, 10, 'For each administrator key.'),
        console: administrationLimit(
          300,
          20,
          'For the console sessions of an administrator key together. They do not count against the limit of the key.',
        ),
        organization: administrationLimit(600, 40, 'For all keys of an organization together.'),
        system_visible: Type.Boolean({
          default: true,
          description:
            'Whether administrator keys with `system:read` see the state of upstreams, the nodes and the settings without their secrets, and those with `system:probe` may call an upstream. False: only the operator may, on the machine. Set it to false if you host the organizations of others.',
        }),
        models: section(
          {
            enabled: Type.Boolean({
              default: true,
              description:
                'Whether administrators with `models:write` may add upstreams and models to their organization. False: only those of this file and of the environment are served, and what was added before is not used.',
            }),
            private_addresses: Type.Boolean({
              default: true,
              description:
                'Whether these upstreams may have private addresses, where model servers usually run. Link-local addresses and the metadata services of clouds are rejected always. False: only public addresses over https. Set it to false if you host the organizations of others.',
            }),
            installation_upstreams: Type.Enum(['unmetered', 'all', 'none'], {
              default: 'unmetered',
              description:
                'Which organizations may use the upstreams of this file and of the environment in models that they add. `unmetered`: those that do not pay with credits, because an added model has the price that its organization sets.',
            }),
          },
          'Upstreams and models that organizations add through the API.',
        ),
      },
      'The administration API. Its limits are counted on each node.',
    ),
    keys: section(
      {
        default_permissions: Type.Array(Type.Enum(['gateway:read', 'gateway:write', 'exports:read', 'exports:write']), {
          default: [],
          description:
            'Permissions of a project API key, in addition to inference, if its creation sets none. Of the keys of the first start, that of the policy gateway has all four and that of applications none.',
        }),
      },
      'Defaults of new keys.',
    ),
    policies: Policies,
    explanations: Explanations,
    moderation: Moderation,
    audit: Audit,
    exports: Exports,
    traces: Traces,
    auth: section({ jwt: Type.Optional(Jwt) }, 'Authentication other than keys.'),
  },
  'The whole configuration.',
)

export type Config = Static<typeof ConfigSchema>
