import Type from 'typebox'
import { lastSecond } from '../../../base/clock.ts'
import { eventKinds } from '../../../domain/audit/event/kinds.ts'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { actorKinds } from '../../../domain/identity/audit-log.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

const policyExampleId = 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'

const time = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: lastSecond, description }))

export const AuditLogQuery = listQuery({
  kind: Type.Optional(Type.Enum([...eventKinds], { description: 'Only events of this kind.' })),
  decision: Type.Optional(Type.Enum([...decisions], { description: 'Only what was decided so.' })),
  policy_id: Type.Optional(idText('Only events of this policy: its changes, and what it decided.', policyExampleId)),
  project_id: Type.Optional(idText('Only events of this project and its keys.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
  user_id: Type.Optional(idText('Only requests of this end user.', 'ada')),
  request_id: Type.Optional(idText('Only what this request did.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8')),
  from: time('Only what happened at this Unix time or later.'),
  to: time('Only what happened before this Unix time.'),
})

export const AuditEntryObject = Type.Object({
  id: Type.String(),
  object: Type.Literal('organization.audit_log'),
  sequence: Type.Integer({ description: 'Its place in the organization’s chain: 1, 2, 3 … without a gap.' }),
  fingerprint: Type.String({
    description: 'SHA-256 of the event, which also holds the fingerprint of the one before.',
  }),
  kind: Type.String({ description: 'What happened, such as `policy.published` or `gateway.request.decided`.' }),
  message: Type.String(),
  created_at: unixTime('When it happened.'),
  actor: Type.Object({
    type: Type.Enum([...actorKinds, 'system'], {
      description: 'A key or token over the API, somebody at the machine itself, or the service of its own accord.',
    }),
    id: orNull(Type.String(), 'The key’s id.'),
  }),
  request_id: orNull(Type.String()),
  resource_id: orNull(Type.String(), 'The policy, key, project or sink that was changed.'),
  policy_id: orNull(Type.String()),
  project_id: orNull(Type.String()),
  user_id: orNull(Type.String(), 'The end user whom the caller named.'),
  decision: orNull(Type.String()),
  old_revision: orNull(Type.Integer()),
  new_revision: orNull(Type.Integer()),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'Of a change: the fields that got another value; a publication also has its whole version. Of a request: what was decided, and what it used.',
  }),
})

const example = {
  id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'organization.audit_log',
  sequence: 42,
  fingerprint: '9f2c'.repeat(16),
  kind: 'policy.updated',
  message: `adk_01k9z8y7x6w5v4t3s2r1q0p9n8 updated the policy ${policyExampleId}.`,
  created_at: 1_767_225_600,
  actor: { type: 'admin_key', id: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8' },
  request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
  resource_id: policyExampleId,
  policy_id: policyExampleId,
  project_id: null,
  user_id: null,
  decision: null,
  old_revision: 2,
  new_revision: 3,
  details: { mode: 'enforcing' },
}

export const AuditLogList = listOf(AuditEntryObject, pageExample(example))

const CheckpointKey = Type.Object({
  id: Type.String({ description: 'The `key_id` of the checkpoints that it signed.' }),
  object: Type.Literal('organization.audit_log.key'),
  algorithm: Type.Literal('Ed25519'),
  public_key: Type.String({ description: 'PEM.' }),
  created_at: orNull(unixTime('When it was first used.'), 'When it was first used; null where it never was.'),
})

const keyExample = {
  id: '1f3b9c0d5e7a2468',
  object: 'organization.audit_log.key',
  algorithm: 'Ed25519',
  public_key: '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA…\n-----END PUBLIC KEY-----\n',
  created_at: 1_767_225_600,
}

export const CheckpointKeys = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(CheckpointKey) },
  { examples: [{ object: 'list', data: [keyExample] }] },
)
