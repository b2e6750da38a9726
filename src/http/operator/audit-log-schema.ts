import Type, { type Static } from 'typebox'
import { flag, integer, text, texts } from '../described.ts'
import { idText, orNull } from '../resources/fields.ts'

const sequence = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1] })

export const VerifyBody = Type.Object(
  {
    from: Type.Optional(sequence('The first event to check.')),
    to: Type.Optional(sequence('The last event to check.')),
    accept_late: Type.Optional(sequence('Late signatures of events up to this one are accepted.')),
    keys: Type.Optional(
      Type.Array(Type.String({ maxLength: 10_000 }), {
        maxItems: 1000,
        description: 'Public keys in PEM to trust in place of those of the server secret.',
      }),
    ),
  },
  { title: 'AuditLogVerificationRequest', additionalProperties: false, examples: [{ from: 1, to: 500 }] },
)

const finding = Type.Object(
  { sequence: integer('The event.'), reason: text('What is wrong with it.') },
  { title: 'AuditLogFinding', description: 'The first event or checkpoint that is wrong.' },
)

export const LogReportObject = Type.Object(
  {
    whole: Type.Boolean({ description: 'No finding, and no event waits too long for its signature.' }),
    organization: text('The organization.'),
    checked: Type.Integer({ description: 'Events that are linked without a gap.' }),
    first: integer('The first event that was checked.'),
    checkpoints: Type.Integer({ description: 'Checkpoints whose signature was checked.' }),
    unchecked_texts: Type.Integer({ description: 'Events whose texts belong to another server secret.' }),
    finding: Type.Optional(finding),
    end: Type.Object(
      { chain_uid: text('The chain.'), sequence: integer('The event.'), fingerprint: text('Its fingerprint.') },
      { description: 'The last event that was checked.' },
    ),
    key_source: Type.Enum(['server_secret', 'pinned'], { description: 'Where the trusted keys are from.' }),
    signed: orNull(
      Type.Object(
        {
          to: integer('The last event that it proves.'),
          time: integer('When it was signed, in Unix milliseconds.'),
          key_ids: texts('The keys that signed checkpoints.'),
          handover_key_ids: texts('Of these, the keys that a later key has replaced.'),
        },
        { title: 'SignedEvents' },
      ),
      'The last checkpoint that proves the events before it.',
    ),
    unsigned: orNull(
      Type.Object(
        {
          from: integer('The first of them.'),
          to: integer('The last of them.'),
          overdue: flag('Whether they have waited too long.'),
        },
        { title: 'UnsignedEvents' },
      ),
      'The events after the last checkpoint.',
    ),
    late: Type.Array(
      Type.Object({
        from: integer('The first of the events.'),
        to: integer('The last of them.'),
        time: integer('When they were signed, in Unix milliseconds.'),
        accepted: flag('Whether `accept_late` covers them.'),
      }),
      {
        description:
          'Events that were signed minutes after they were written, because no service ran or checkpoints were removed. Nothing proves that they were not changed before.',
      },
    ),
    key_findings: Type.Array(
      Type.Object({
        key_id: text('The key.'),
        reason: text('What is wrong with it.'),
        from: Type.Optional(integer('The first event that it concerns.')),
        to: Type.Optional(integer('The last event that it concerns.')),
      }),
      { description: 'Keys that are not trusted.' },
    ),
    checkpoint_finding: Type.Optional(finding),
  },
  {
    title: 'AuditLogVerification',
    examples: [
      {
        whole: true,
        organization: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
        checked: 42,
        first: 1,
        checkpoints: 2,
        unchecked_texts: 0,
        end: { chain_uid: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7/1', sequence: 42, fingerprint: '5e88' },
        key_source: 'server_secret',
        signed: { to: 42, time: 1_767_225_600_000, key_ids: ['0f3a9c1e5b7d2468'], handover_key_ids: [] },
        unsigned: null,
        late: [],
        key_findings: [],
      },
    ],
  },
)

const after = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 0,
  description: 'The last event of the previous page.',
})

export const EventsQuery = Type.Object(
  { after, to: Type.Optional(sequence('The last event to return.')) },
  { additionalProperties: false },
)

export const EventsPage = Type.Object(
  {
    lines: Type.Array(Type.String(), { description: 'Events as the JSON text that was hashed.' }),
    last: orNull(Type.Integer(), 'The last event of this page, for `after` of the next request; null after the end.'),
  },
  { title: 'HashedEventPage', examples: [{ lines: ['{"class_uid":6003}'], last: 1 }] },
)

export const FingerprintsQuery = Type.Object(
  { after, to: sequence('The last event to return.') },
  { additionalProperties: false },
)

export const FingerprintsObject = Type.Object(
  {
    organization: text('The organization.'),
    chain_uid: text('The chain.'),
    first: Type.Integer({ description: 'The first event that is stored.' }),
    last: Type.Integer({ description: 'The last event that is stored.' }),
    at: Type.Array(Type.Tuple([Type.Integer(), Type.String()]), { description: 'Sequence and fingerprint of events.' }),
  },
  {
    title: 'Fingerprints',
    examples: [
      {
        organization: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
        chain_uid: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7/1',
        first: 1,
        last: 42,
        at: [[1, '5e88']],
      },
    ],
  },
)

export const HandoversQuery = Type.Object(
  { organization_id: idText('The organization; it may have been deleted.', 'org_01k9z8y7x6w5v4t3s2r1q0p9n7') },
  { additionalProperties: false },
)

export const HandoversAnswer = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Type.Object({}, { title: 'SignedCheckpoint', additionalProperties: true }), {
      description: 'Signed checkpoints.',
    }),
  },
  { title: 'HandoverList' },
)

export const TextsParams = Type.Object({ request_id: idText('The request.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8') })

export const ErasedAnswer = Type.Object(
  {
    erased: Type.Integer({ description: 'Texts that were erased: of events, and of cases that were made from them.' }),
  },
  { title: 'ErasedTexts', examples: [{ erased: 2 }] },
)

export type AuditEventsBody = Static<typeof EventsPage>
export type FingerprintsBody = Static<typeof FingerprintsObject>
