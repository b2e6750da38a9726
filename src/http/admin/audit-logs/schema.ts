import Type, { type Static } from 'typebox'
import { integer, text } from '../../described.ts'
import { eventKinds } from '../../../domain/audit/event/kinds.ts'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { actorKinds } from '../../../domain/mutations/audit-log.ts'
import { idText, orNull, timeFilter, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

const policyExampleId = 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const AuditEventParams = Type.Object({
  event_id: idText('The event.', 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8'),
})

/** What events are filtered by, in the list and in the export. */
export const AuditFilterFields = {
  kind: Type.Optional(Type.Enum([...eventKinds], { description: 'Only events of this kind.' })),
  without_requests: Type.Optional(
    Type.Boolean({ description: 'True: only changes by administrators and acts of the service, no requests.' }),
  ),
  without_checkpoints: Type.Optional(
    Type.Boolean({
      description: 'True: without the signatures of the log, of which there is one each minute with events.',
    }),
  ),
  decision: Type.Optional(Type.Enum([...decisions], { description: 'Only events with this decision.' })),
  policy_id: Type.Optional(idText('Only changes and decisions of this policy.', policyExampleId)),
  project_id: Type.Optional(idText('Only events of this project and its keys.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
  user_id: Type.Optional(idText('Only requests of this end user.', 'ada')),
  request_id: Type.Optional(idText('Only events of this request.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8')),
  actor_id: Type.Optional(
    idText(
      'Only events of this key or token. Events that were recorded before this filter existed are not found by it.',
      'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
    ),
  ),
  resource_id: Type.Optional(
    idText(
      'Only changes of this object: a key, member, sink, model, alert rule or any other. Events that were recorded before this filter existed are not found by it.',
      'sink_01k9z8y7x6w5v4t3s2r1q0p9n8',
    ),
  ),
  from: timeFilter('Only events at this Unix time or later.'),
  to: timeFilter('Only events before this Unix time.'),
}

export const AuditLogQuery = listQuery(AuditFilterFields)

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
  details: { mode: 'enforcing', before: { mode: 'monitoring' } },
}

export const AuditEntryObject = Type.Object(
  {
    id: text('The id of the event.'),
    object: Type.Literal('organization.audit_log'),
    sequence: Type.Integer({ description: 'Position in the chain of the organization: 1, 2, 3 … without gaps.' }),
    fingerprint: Type.String({
      description: 'SHA-256 of the event, which includes the fingerprint of the previous event.',
    }),
    kind: Type.String({ description: 'The kind of event, such as `policy.published` or `gateway.request.decided`.' }),
    message: text('What happened, as a sentence.'),
    created_at: unixTime('Time of the event.'),
    actor: Type.Object(
      {
        type: Type.Enum([...actorKinds, 'system'], {
          description:
            'A key or token over the API, a session of the console that acts as a key, a member, an operator on the machine, or the service itself.',
        }),
        id: orNull(Type.String(), 'The id of the key or member.'),
      },
      { description: 'Who caused the event.' },
    ),
    request_id: orNull(text('The request that caused the event.')),
    resource_id: orNull(Type.String(), 'The policy, key, project or sink that was changed.'),
    policy_id: orNull(text('The policy that was changed or that decided.')),
    project_id: orNull(text('The project that the event belongs to.')),
    user_id: orNull(Type.String(), 'The end user named in the request.'),
    decision: orNull(text('The decision about a request.')),
    old_revision: orNull(integer('The revision of the policy before the change.')),
    new_revision: orNull(integer('The revision of the policy after the change.')),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'For a change: the changed fields, and in `before` their values before it; a publication also contains the whole version. For a request: the decision and the usage.',
    }),
  },
  { title: 'AuditEvent', examples: [example] },
)

export const auditEntryExample = example as Static<typeof AuditEntryObject>
export const AuditLogList = listOf('AuditEventList', AuditEntryObject, pageExample(example))

const CheckpointKey = Type.Object(
  {
    id: Type.String({ description: 'The `key_id` of the checkpoints that it signed.' }),
    object: Type.Literal('organization.audit_log.key'),
    algorithm: Type.Literal('Ed25519'),
    public_key: Type.String({ description: 'PEM.' }),
    created_at: orNull(unixTime('When it was first used.'), 'Time of the first use; null if the key was never used.'),
  },
  { title: 'CheckpointKey' },
)

const keyExample = {
  id: '1f3b9c0d5e7a2468',
  object: 'organization.audit_log.key',
  algorithm: 'Ed25519',
  public_key: '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA…\n-----END PUBLIC KEY-----\n',
  created_at: 1_767_225_600,
}

export const CheckpointKeys = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(CheckpointKey, { description: 'The keys.' }) },
  { title: 'CheckpointKeyList', examples: [{ object: 'list', data: [keyExample] }] },
)

export type AuditEntryBody = Static<typeof AuditEntryObject>
export type CheckpointKeysBody = Static<typeof CheckpointKeys>
