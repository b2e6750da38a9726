import Type from 'typebox'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { gateOverride, gateRun } from '../../resources/gate.ts'
import { revision } from './schema.ts'

export const AtRevision = Type.Object(
  { revision },
  { title: 'PolicyRevision', additionalProperties: false, examples: [{ revision: 3 }] },
)

const reason = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'Why, for those who read the versions later.',
    examples: ['Approved by legal'],
  }),
)

const percent = (description: string) => Type.Integer({ minimum: 1, maximum: 100, description, examples: [10] })

export const RollOut = Type.Object(
  {
    revision,
    percent: percent('The share of users, or keys where no user is named, that the policy is enforced for.'),
  },
  { title: 'PolicyRollout', additionalProperties: false, examples: [{ revision: 3, percent: 10 }] },
)

export const PublishPolicy = Type.Object(
  {
    revision,
    reason,
    rollout_percent: Type.Optional(percent('The share of users that the version is enforced for. Default: 100.')),
    gate_run: gateRun,
    override: gateOverride,
  },
  { title: 'PolicyPublication', additionalProperties: false, examples: [{ revision: 3, reason: 'Approved by legal' }] },
)

export const RollBack = Type.Object(
  {
    revision,
    reason,
    version: Type.Integer({
      minimum: 1,
      maximum: maxRevision,
      description: 'The version to publish again.',
      examples: [1],
    }),
  },
  { title: 'PolicyRollback', additionalProperties: false, examples: [{ revision: 3, version: 1 }] },
)
