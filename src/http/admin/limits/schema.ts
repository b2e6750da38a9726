import Type, { type Static } from 'typebox'
import { flag, integer, number, text } from '../../described.ts'
import { metrics, limitScopes } from '../../../domain/limits/scopes.ts'
import { tiers } from '../../../domain/limits/tiers.ts'
import { idText, orNull } from '../../resources/fields.ts'

const projectId = idText('A project of the organization.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8')
const apiKeyId = idText('An API key of that project.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8')

export const LimitsQuery = Type.Object(
  { project_id: Type.Optional(projectId), api_key_id: Type.Optional(apiKeyId) },
  { additionalProperties: false },
)

export const CheckBody = Type.Object(
  {
    project_id: projectId,
    api_key_id: Type.Optional(apiKeyId),
    model: text('The model of the request.', { minLength: 1, maxLength: 200, examples: ['gatehouse-echo'] }),
    input_tokens: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Input tokens of the request.' }),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'Maximum output tokens. Default: the limit of the model.',
      }),
    ),
  },
  {
    title: 'LimitCheckRequest',
    additionalProperties: false,
    examples: [
      { project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8', model: 'gatehouse-echo', input_tokens: 1200, max_tokens: 800 },
    ],
  },
)

const Window = Type.Object(
  {
    limit: integer('The limit of the window.'),
    remaining: integer('What remains of it.', { minimum: 0 }),
    reset_ms: Type.Integer({
      minimum: 0,
      description: 'Time until the window is empty if there are no further requests.',
    }),
  },
  { title: 'LimitWindow' },
)
const window = (description: string) => orNull(Window, `${description} Null: no limit.`)

const ScopeObject = Type.Object(
  {
    rpm: window('Requests per minute.'),
    rpd: window('Requests per day.'),
    tpm: window('Tokens per minute.'),
    tpd: window('Tokens per day.'),
    concurrent: orNull(
      Type.Object(
        { limit: integer('The limit.'), remaining: integer('What remains of it.', { minimum: 0 }) },
        { title: 'ConcurrencyLimit' },
      ),
      'Concurrent requests. Null: no limit.',
    ),
  },
  { title: 'ScopeLimits', description: 'The limits of one scope.' },
)

const ScopesObject = Type.Object(
  { key: ScopeObject, project: ScopeObject, organization: ScopeObject },
  { title: 'LimitScopes', description: 'The limits of the three scopes. All of them apply.' },
)

const scopeExample = (times: number) => ({
  rpm: { limit: 60 * times, remaining: 60 * times - 1, reset_ms: 41_200 },
  rpd: { limit: 10_000 * times, remaining: 10_000 * times - 1, reset_ms: 86_041_200 },
  tpm: { limit: 1_000_000 * times, remaining: 1_000_000 * times - 640, reset_ms: 41_200 },
  tpd: null,
  concurrent: { limit: 4 * times, remaining: 4 * times },
})

const scopesExample = { key: scopeExample(1), project: scopeExample(1.5), organization: scopeExample(2) }

export const LimitsObject = Type.Object(
  {
    object: Type.Literal('organization.limits'),
    tier: Type.Enum([...tiers], {
      description: 'The higher of the tier of the plan and the tier reached by payments.',
    }),
    plan: text('The plan of the organization.', { examples: ['free'] }),
    lifetime_paid_usd: number('All payments so far, in dollars.', { examples: [20] }),
    scopes: ScopesObject,
  },
  {
    title: 'Limits',
    examples: [
      { object: 'organization.limits', tier: 'free', plan: 'free', lifetime_paid_usd: 0, scopes: scopesExample },
    ],
  },
)

const checkExample = {
  object: 'organization.limits.check',
  would_pass: false,
  reason: 'rpm',
  scope: 'key',
  retry_after_seconds: 12,
  holds: { tokens: 2000, credits: 15.6 },
  closest: { scope: 'key', metric: 'rpm', limit: 60, remaining: 0 },
  scopes: { ...scopesExample, key: { ...scopeExample(1), rpm: { limit: 60, remaining: 0, reset_ms: 41_200 } } },
}

export const CheckObject = Type.Object(
  {
    object: Type.Literal('organization.limits.check'),
    would_pass: flag('Whether the request would be admitted now.'),
    reason: orNull(Type.Enum([...metrics, 'credits']), 'The limit that would reject the request.'),
    scope: orNull(Type.Enum([...limitScopes]), 'The scope of that limit.'),
    retry_after_seconds: orNull(
      Type.Integer({ minimum: 1 }),
      'Wait time after which the request would be admitted; null if waiting does not help.',
    ),
    holds: Type.Object(
      {
        tokens: Type.Integer({ description: 'Tokens reserved until the response is complete.' }),
        credits: Type.Number({ description: 'The maximum cost of the request.' }),
      },
      { description: 'What the request would reserve.' },
    ),
    closest: orNull(
      Type.Object(
        {
          scope: Type.Enum([...limitScopes], { description: 'The scope of the limit.' }),
          metric: Type.Enum([...metrics], { description: 'What the limit counts.' }),
          limit: integer('The limit.'),
          remaining: integer('What remains of it.'),
        },
        { title: 'ClosestLimit' },
      ),
      'The limit with the smallest remaining share.',
    ),
    scopes: ScopesObject,
  },
  { title: 'LimitCheck', examples: [checkExample] },
)

export type LimitsBody = Static<typeof LimitsObject>
