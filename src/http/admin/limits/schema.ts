import Type from 'typebox'
import { metrics, scopes } from '../../../domain/limits/scopes.ts'
import { tiers } from '../../../domain/limits/tiers.ts'
import { idText, orNull } from '../../managed-fields.ts'

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
    model: Type.String({ minLength: 1, maxLength: 200, examples: ['house-model'] }),
    input_tokens: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'How much it would read.' }),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'The most it may write; the model’s own cap when left out.',
      }),
    ),
  },
  { additionalProperties: false },
)

const Window = orNull(
  Type.Object({
    limit: Type.Integer(),
    remaining: Type.Integer({ minimum: 0 }),
    reset_ms: Type.Integer({ minimum: 0, description: 'Until the window is empty again, if nothing more comes.' }),
  }),
  'null: no limit.',
)

const ScopeObject = Type.Object({
  rpm: Window,
  rpd: Window,
  tpm: Window,
  tpd: Window,
  concurrent: orNull(
    Type.Object({ limit: Type.Integer(), remaining: Type.Integer({ minimum: 0 }) }),
    'null: no limit.',
  ),
})

const ScopesObject = Type.Object({ key: ScopeObject, project: ScopeObject, organization: ScopeObject })

export const LimitsObject = Type.Object({
  object: Type.Literal('organization.limits'),
  tier: Type.Enum([...tiers], { description: 'The higher of what the plan and what the payments give.' }),
  plan: Type.String({ examples: ['free'] }),
  lifetime_paid_usd: Type.Number({ examples: [20] }),
  scopes: ScopesObject,
})

export const CheckObject = Type.Object({
  object: Type.Literal('organization.limits.check'),
  would_pass: Type.Boolean(),
  reason: orNull(Type.Enum([...metrics, 'credits']), 'What would refuse it.'),
  scope: orNull(Type.Enum([...scopes])),
  retry_after_seconds: orNull(Type.Integer({ minimum: 1 }), 'When it would pass; null where waiting does not help.'),
  holds: Type.Object({
    tokens: Type.Integer({ description: 'Reserved until the answer is complete.' }),
    credits: Type.Number({ description: 'The most it can cost.' }),
  }),
  closest: orNull(
    Type.Object({
      scope: Type.Enum([...scopes]),
      metric: Type.Enum([...metrics]),
      limit: Type.Integer(),
      remaining: Type.Integer(),
    }),
    'The limit with the smallest share left.',
  ),
  scopes: ScopesObject,
})
