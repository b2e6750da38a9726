import Type from 'typebox'
import { faultyParts, verificationStates } from '../../../domain/audit/verification/verification.ts'
import { integer, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

const verificationId = 'aver_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const VerificationParams = Type.Object({ verification_id: idText('The verification.', verificationId) })
export const VerificationQuery = listQuery({})

const sequence = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }))

export const VerifyBody = Type.Object(
  {
    from: sequence('The sequence of the first event to check. Default: the first one that the log keeps.'),
    to: sequence('The sequence of the last event to check. Default: the last one.'),
  },
  { additionalProperties: false, title: 'VerifyRange', examples: [{}, { from: 1, to: 1_000 }] },
)

const reasons = [
  'altered',
  'texts_altered',
  'missing',
  'misplaced',
  'unlinked',
  'rewritten',
  'cut',
  'unknown_key',
  'bad_signature',
  'late',
  'untrusted',
  'replaced',
] as const

const FirstBad = Type.Object(
  {
    part: Type.Enum([...faultyParts], { description: 'Whether an event, a checkpoint or a key is wrong.' }),
    sequence: integer('The event, or the first event that the checkpoint or the key signs for.'),
    reason: Type.Enum([...reasons], {
      description:
        'Of an event: it was `altered`, its stored texts were (`texts_altered`), it is `missing`, `misplaced`, does not follow from the one before (`unlinked`), differs from what was signed (`rewritten`), or the end of the log was `cut`. Of a checkpoint: `unknown_key`, `bad_signature`, `unlinked`, or signed `late`: minutes after its events were written, so nothing proves that they were not changed before. Of a key in the database: `untrusted` or `replaced`.',
    }),
  },
  { title: 'FirstBadEvent' },
)

const example = {
  id: verificationId,
  object: 'organization.audit_log.verification',
  state: 'completed',
  from: null,
  to: null,
  checked: 1_204,
  total: 1_204,
  is_whole: true,
  first_bad: null,
  signed_to: 1_201,
  overdue_from: null,
  unchecked_texts: 0,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_601,
}

export const VerificationObject = Type.Object(
  {
    id: text('The id of the verification.'),
    object: Type.Literal('organization.audit_log.verification'),
    state: Type.Enum([...verificationStates], {
      description: '`failed`: the service could not complete it; its log says why.',
    }),
    from: orNull(Type.Integer(), 'The first event to check; null: the first one that the log keeps.'),
    to: orNull(Type.Integer(), 'The last event to check; null: the last one.'),
    checked: integer('Events that were checked so far.'),
    total: integer('Events to check.'),
    is_whole: orNull(Type.Boolean(), 'Whether nothing is wrong; null until it is completed.'),
    first_bad: orNull(FirstBad, 'What is wrong first; null if nothing is.'),
    signed_to: orNull(Type.Integer(), 'The last event that a valid signature covers.'),
    overdue_from: orNull(
      Type.Integer(),
      'The first event that should be signed by now and is not: checkpoints were removed, or no service ran.',
    ),
    unchecked_texts: orNull(Type.Integer(), 'Events whose texts were written under another server secret.'),
    created_at: unixTime('When it was started.'),
    updated_at: unixTime('When its progress was last saved.'),
  },
  { title: 'AuditVerification', examples: [example] },
)

export const VerificationList = listOf('AuditVerificationList', VerificationObject, pageExample(example))
