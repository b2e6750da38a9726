import Type from 'typebox'
import { auditKinds } from '../../../domain/identity/audit-log.ts'
import { idText, orNull, unixTime } from '../fields.ts'
import { listOf, listQuery, pageExample } from '../list.ts'

const policyExampleId = 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const AuditLogQuery = listQuery({
  kind: Type.Optional(Type.Enum([...auditKinds], { description: 'Only changes of this kind.' })),
  policy_id: Type.Optional(idText('Only changes of this policy.', policyExampleId)),
  project_id: Type.Optional(idText('Only changes of this project and its keys.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
  request_id: Type.Optional(idText('Only what this request changed.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8')),
})

export const AuditEntryObject = Type.Object({
  id: Type.String(),
  object: Type.Literal('organization.audit_log'),
  kind: Type.Enum([...auditKinds]),
  created_at: unixTime('When it happened.'),
  actor: Type.Object({
    type: Type.Enum(['admin_key', 'operator'], {
      description: 'A key over the API, or somebody at the machine itself.',
    }),
    id: orNull(Type.String(), 'The key’s id.'),
  }),
  request_id: orNull(Type.String()),
  resource_id: Type.String({ description: 'The policy, key or project that was changed.' }),
  policy_id: orNull(Type.String()),
  project_id: orNull(Type.String()),
  old_revision: orNull(Type.Integer()),
  new_revision: orNull(Type.Integer()),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The fields that got another value; a publication also has its whole version.',
  }),
})

const example = {
  id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'organization.audit_log',
  kind: 'policy.updated',
  created_at: 1_767_225_600,
  actor: { type: 'admin_key', id: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8' },
  request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
  resource_id: policyExampleId,
  policy_id: policyExampleId,
  project_id: null,
  old_revision: 2,
  new_revision: 3,
  details: { mode: 'enforcing' },
}

export const AuditLogList = listOf(AuditEntryObject, pageExample(example))
