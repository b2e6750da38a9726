import Type from 'typebox'
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
    model: Type.String({ minLength: 1, maxLength: 200, examples: ['default-model'] }),
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
      { project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8', model: 'default-model', input_tokens: 1200, max_tokens: 800 },
    ],
  },
)

const Window = orNull(
  Type.Object({
    limit: Type.Integer(),
    remaining: Type.Integer({ minimum: 0 }),
    reset_ms: Type.Integer({
      minimum: 0,
      description: 'Time until the window is empty if there are no further requests.',
    }),
  }),
  'null: no limit.',
)

const ScopeObject = Type.Object(
  {
    rpm: Window,
    rpd: Window,
    tpm: Window,
    tpd: Window,
    concurrent: orNull(
      Type.Object({ limit: Type.Integer(), remaining: Type.Integer({ minimum: 0 }) }),
      'null: no limit.',
    ),
  },
  { title: 'ScopeLimits' },
)

const ScopesObject = Type.Object(
  { key: ScopeObject, project: ScopeObject, organization: ScopeObject },
  { title: 'LimitScopes' },
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
    plan: Type.String({ examples: ['free'] }),
    lifetime_paid_usd: Type.Number({ examples: [20] }),
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
    would_pass: Type.Boolean(),
    reason: orNull(Type.Enum([...metrics, 'credits']), 'The limit that would reject the request.'),
    scope: orNull(Type.Enum([...limitScopes])),
    retry_after_seconds: orNull(
      Type.Integer({ minimum: 1 }),
      'Wait time after which the request would be admitted; null if waiting does not help.',
    ),
    holds: Type.Object({
      tokens: Type.Integer({ description: 'Tokens reserved until the response is complete.' }),
      credits: Type.Number({ description: 'The maximum cost of the request.' }),
    }),
    closest: orNull(
      Type.Object({
        scope: Type.Enum([...limitScopes]),
        metric: Type.Enum([...metrics]),
        limit: Type.Integer(),
        remaining: Type.Integer(),
      }),
      'The limit with the smallest remaining share.',
    ),
    scopes: ScopesObject,
  },
  { title: 'LimitCheck', examples: [checkExample] },
)
