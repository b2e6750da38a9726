import Type, { type Static } from 'typebox'
import { lastSecond, toUnixSeconds } from '../../../base/clock.ts'
import {
  exceptionStates,
  stateOf,
  type ExceptionSubject,
  type PolicyException,
} from '../../../domain/exceptions/exception.ts'
import { text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { policyExampleId, PolicyParams } from './schema.ts'

const exceptionExampleId = 'exc_01k9z8y7x6w5v4t3s2r1q0p9n8'
const strict = { additionalProperties: false }

export const ExceptionParams = Type.Object({
  ...PolicyParams.properties,
  exception_id: idText('The exception.', exceptionExampleId),
})

/** NUL is excluded because PostgreSQL cannot store it. */
const words = (description: string, maxLength: number, example: string) =>
  text(description, { minLength: 1, maxLength, pattern: '^[^\\u0000]*$', examples: [example] })

const digests = Type.Array(
  Type.String({
    pattern: '^sha256:[0-9a-f]{64}$',
    examples: ['sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'],
  }),
  {
    minItems: 1,
    maxItems: 16,
    uniqueItems: true,
    description: 'Texts, each as `sha256:` and the hexadecimal SHA-256 of the UTF-8 text, exactly as it is evaluated.',
  },
)

const subjectFields = {
  project_id: Type.Optional(idText('The requests of this project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
  user: Type.Optional(idText('The requests that name this end user.', 'ada')),
  key_id: Type.Optional(idText('The requests of this key.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8')),
  text_digests: Type.Optional(digests),
}

const For = Type.Object(
  {
    ...subjectFields,
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100_000, description: 'A text. Its digest is stored, and not the text.' }),
    ),
    event_id: Type.Optional(
      idText(
        'The texts of this request that the policy denies. They must be kept in the audit log. Needs the permission `content:read`.',
        'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
      ),
    ),
  },
  {
    ...strict,
    title: 'ExceptionSubject',
    description: 'What the exception covers: exactly one of these.',
  },
)

export const CreateException = Type.Object(
  {
    for: For,
    reason: words('Why, for those who read it later.', 500, 'The legal team works on the launch'),
    owner: Type.Optional(
      words('Who answers for it: a person or a team. Default: the credential that creates it.', 128, 'legal'),
    ),
    expires_at: Type.Integer({
      minimum: 1,
      maximum: lastSecond,
      description:
        'When it ends, in Unix seconds: at most 30 days ahead. A request at this second is no longer covered.',
    }),
  },
  {
    ...strict,
    title: 'PolicyExceptionCreate',
    examples: [
      { for: { user: 'ada' }, reason: 'The legal team works on the launch', owner: 'legal', expires_at: 1_767_225_600 },
    ],
  },
)

const example = {
  id: exceptionExampleId,
  object: 'organization.policy.exception',
  policy_id: policyExampleId,
  for: { user: 'ada' },
  state: 'live',
  reason: 'The legal team works on the launch',
  owner: 'legal',
  event_id: null,
  created_by: 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8',
  created_at: 1_767_139_200,
  expires_at: 1_767_225_600,
  ended_at: null,
  ended_by: null,
}

export const ExceptionObject = Type.Object(
  {
    id: text('The id of the exception.'),
    object: Type.Literal('organization.policy.exception'),
    policy_id: text('The policy.'),
    for: Type.Object(subjectFields, { title: 'CoveredSubject', description: 'What it covers: one of these.' }),
    state: Type.Enum([...exceptionStates], {
      description: '`live`; `ended`: somebody ended it early; `expired`: it ended at `expires_at`.',
    }),
    reason: text('Why it was made.'),
    owner: text('Who answers for it.'),
    event_id: orNull(Type.String(), 'The audit event that the texts are of.'),
    created_by: text('The administrator key or member that created it.'),
    created_at: unixTime('When it was created.'),
    expires_at: unixTime('When it ends.'),
    ended_at: orNull(unixTime('When it was ended early.')),
    ended_by: orNull(Type.String(), 'Who ended it early.'),
  },
  { title: 'PolicyException', examples: [example] },
)

export const ExceptionList = listOf('PolicyExceptionList', ExceptionObject, pageExample(example))

export type ExceptionBody = Static<typeof ExceptionObject>

export const exceptionPresenter =
  (nowMs: number) =>
  (exception: PolicyException): ExceptionBody => ({
    id: exception.id,
    object: 'organization.policy.exception',
    policy_id: exception.policyId,
    for: presentSubject(exception.subject),
    state: stateOf(exception, nowMs),
    reason: exception.reason,
    owner: exception.owner,
    event_id: exception.eventId,
    created_by: exception.createdBy,
    created_at: toUnixSeconds(exception.createdAtMs),
    expires_at: toUnixSeconds(exception.expiresAtMs),
    ended_at: exception.endedAtMs === null ? null : toUnixSeconds(exception.endedAtMs),
    ended_by: exception.endedBy,
  })

function presentSubject(subject: ExceptionSubject): ExceptionBody['for'] {
  if (subject.kind === 'text') return { text_digests: [...subject.digests] }
  if (subject.kind === 'user') return { user: subject.id }
  return subject.kind === 'key' ? { key_id: subject.id } : { project_id: subject.id }
}
