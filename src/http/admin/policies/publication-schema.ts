import Type from 'typebox'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { idText } from '../../resources/fields.ts'
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

const override = Type.Optional(
  Type.Object(
    {
      reason: Type.String({
        minLength: 10,
        maxLength: 500,
        pattern: '^[^\\u0000]*$', // PostgreSQL stores none
        description: 'Why the gate does not count this time. The audit log shows it.',
        examples: ['A leak is going on; legal approved it by phone'],
      }),
    },
    {
      title: 'GateOverride',
      additionalProperties: false,
      description: 'Publishes a draft that has not passed the publish gate. Needs the permission `policies:override`.',
    },
  ),
)

export const PublishPolicy = Type.Object(
  {
    revision,
    reason,
    gate_run: Type.Optional(
      idText(
        'The run of the publish gate that the draft has passed. Default: the newest run of the policy.',
        'gate_01k9z8y7x6w5v4t3s2r1q0p9n8',
      ),
    ),
    override,
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
