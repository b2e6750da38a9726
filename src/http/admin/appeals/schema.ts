import Type, { type Static } from 'typebox'
import { lastSecond } from '../../../base/clock.ts'
import { appealClaims, appealOrigins, appealOutcomes, appealStates } from '../../../domain/appeals/appeal.ts'
import { requestSubjects } from '../../../domain/appeals/exception-of-appeal.ts'
import { labelAnswers } from '../../../domain/appeals/label.ts'
import { checks, decisions } from '../../../domain/audit/event/verdict.ts'
import { caseWeights } from '../../../domain/cases/case.ts'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { textDirections } from '../../../domain/scan/classify/classifier.ts'
import { flag, integer, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

const strict = { additionalProperties: false }

export const appealExampleId = 'apl_01k9z8y7x6w5v4t3s2r1q0p9n8'
export const eventExampleId = 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8'
export const policyExampleId = 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const AppealParams = Type.Object({ appeal_id: idText('The appeal.', appealExampleId) })

/** At least one character that is not white space. */
const noteText = (description: string) =>
  text(description, { minLength: 1, maxLength: 1_000, pattern: '\\S', examples: ['A falcon is a bird.'] })

export const AppealQuery = listQuery({
  state: Type.Optional(Type.Enum([...appealStates], { description: 'Only appeals in this state.' })),
  policy_id: Type.Optional(idText('Only appeals about this policy.', policyExampleId)),
  blind: Type.Boolean({
    default: true,
    description: 'False: with the decisions of open appeals, which the audit log records. Default: true.',
  }),
})

export const AppealDetailQuery = Type.Object(
  {
    blind: Type.Boolean({
      default: true,
      description:
        'True: the decision, the claim and the note of an open appeal are left out until you have labelled it. False: they are shown, and your label is recorded as not blind.',
    }),
    include: Type.Optional(
      Type.Enum(['content'], {
        description:
          '`content`: with the disputed text, if it is kept. Needs the permission `content:read`, and writes an event `audit.content.read` to the audit log.',
      }),
    ),
  },
  strict,
)

const claim = Type.Enum([...appealClaims], { description: 'What is said to be right in place of the decision.' })
const outcome = Type.Enum([...appealOutcomes], {
  description:
    '`overturned`: the decision was wrong. `upheld`: it was right. `dismissed`: it is not decided about. The first two must be what the labels say.',
})
const should = Type.Enum([...labelAnswers], {
  description: 'Whether the rule should match the text. `unsure` decides nothing.',
})

export const OpenAppeal = Type.Object(
  {
    event_id: idText('The decision: the `event_id` of a request.', eventExampleId),
    note: noteText('Why the decision was wrong.'),
    claim,
    policy_id: Type.Optional(
      idText('The policy that should have decided. Default: the policy that did.', policyExampleId),
    ),
    direction: Type.Optional(
      Type.Enum([...textDirections], { description: 'The disputed text. Default: the one that was decided last.' }),
    ),
  },
  {
    ...strict,
    title: 'AppealCreate',
    examples: [{ event_id: eventExampleId, note: 'The answer names a code name.', claim: 'should_be_denied' }],
  },
)

export const ReviewAppeal = Type.Object(
  {
    should,
    note: Type.Optional(noteText('Why.')),
  },
  { ...strict, title: 'AppealReview', examples: [{ should: 'no_match' }] },
)

const NewCase = Type.Object(
  {
    says: Type.Optional(text('What the case is about, in a few words.', { minLength: 1, maxLength: 200 })),
    weight: Type.Optional(Type.Enum([...caseWeights], { description: 'Default: `must`.' })),
  },
  { ...strict, title: 'AppealCase' },
)

const DraftChange = Type.Object(
  {
    match_threshold_basis_points: Type.Optional(
      orNull(Type.Integer({ minimum: 1, maximum: 9999 }), 'The score from which the rule matches.'),
    ),
    rule: Type.Optional(text('The rule.', { minLength: 1, maxLength: 20_000 })),
  },
  { ...strict, minProperties: 1, title: 'AppealDraft', description: 'The change of the draft of the policy.' },
)

export const ResolveAppeal = Type.Object(
  {
    outcome,
    reason: Type.Optional(
      noteText(
        'The answer to who opened the appeal, which `GET /v1/decisions/{event_id}` and the page of the decision show.',
      ),
    ),
    case: Type.Optional(
      Type.Union([Type.Literal(true), NewCase], {
        description:
          'Adds the text as a case to the policy, with what the labels say. Only if the text is kept (`audit.content`).',
      }),
    ),
    draft: Type.Optional(DraftChange),
    exception: Type.Optional(
      Type.Object(
        {
          for: Type.Enum([...requestSubjects], {
            description:
              'What of the appealed request: its user, key or project, or exactly its texts that the policy denies. `text` needs the permission `content:read`, and that the texts are kept.',
          }),
          reason: Type.Optional(
            text('Why, for those who read it later. Default: the id of the appeal.', {
              minLength: 1,
              maxLength: 500,
              pattern: '^[^\\u0000]*$',
              examples: ['The legal team works on the launch'],
            }),
          ),
          expires_at: Type.Integer({
            minimum: 1,
            maximum: lastSecond,
            description: 'When it ends, in Unix seconds: at most 30 days ahead.',
          }),
        },
        {
          ...strict,
          description:
            'The policy lets further requests of this user, key or project through until then, or exactly these texts. Needs the permission `policies:publish`.',
        },
      ),
    ),
    revision: Type.Optional(
      integer('With `draft`: the revision of the policy that you have read. 409 if it has changed since.', {
        minimum: 1,
        maximum: maxRevision,
      }),
    ),
  },
  { ...strict, title: 'AppealResolution', examples: [{ outcome: 'dismissed', reason: 'This was a test.' }] },
)

const Decision = Type.Object(
  {
    decision: Type.Enum([...decisions], { description: 'The decision of the checks.' }),
    effective_decision: Type.Enum([...decisions], { description: 'What happened to the request or response.' }),
    enforced: flag('False: the decision was recorded and not applied.'),
    check: orNull(Type.Enum([...checks]), 'The check that decided; null if every check allowed it.'),
    reason_code: orNull(Type.String(), 'The reason code.'),
    score_bp: orNull(Type.Integer(), 'The score in basis points.'),
    threshold_bp: orNull(Type.Integer(), 'The score from which the rule matches.'),
  },
  { title: 'AppealDecision', description: 'What was decided.' },
)

export const labelFields = {
  id: text('The id of the label.'),
  should,
  blind: flag('Whether the person had not seen the decision.'),
  note: orNull(Type.String(), 'Why. Null without one, after it was erased, and without the permission `content:read`.'),
  labelled_by: text('The administrator key or member.'),
  labelled_at: unixTime('When.'),
}

const LabelOfAppeal = Type.Object(labelFields, { title: 'AppealLabel' })

export const labelExample = {
  id: 'lbl_01k9z8y7x6w5v4t3s2r1q0p9n8',
  should: 'no_match',
  blind: true,
  note: null,
  labelled_by: 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8',
  labelled_at: 1_767_225_600,
}

const example = {
  id: appealExampleId,
  object: 'organization.appeal',
  state: 'open',
  event_id: eventExampleId,
  request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
  project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
  policy: { id: policyExampleId, name: 'No code names', version: 3, rule: 'Never mention "Project Falcon".' },
  direction: 'request',
  text: null,
  is_text_kept: true,
  may_review: false,
  needs_third: false,
  blind: false,
  claim: 'should_be_allowed',
  origin: 'caller',
  opened_by: 'key_01k9z8y7x6w5v4t3s2r1q0p9n8',
  note: 'A falcon is a bird.',
  decision: {
    decision: 'refuse',
    effective_decision: 'refuse',
    enforced: true,
    check: 'policy',
    reason_code: 'REFUSE',
    score_bp: 10_000,
    threshold_bp: 5_000,
  },
  labels: [labelExample],
  agreed: 'no_match',
  opened_at: 1_767_225_600,
  expires_at: 1_769_817_600,
  closed_at: null,
  closed_by: null,
  reason: null,
  case_id: null,
  draft_revision: null,
  exception_id: null,
}

export const AppealObject = Type.Object(
  {
    id: text('The id of the appeal.'),
    object: Type.Literal('organization.appeal'),
    state: Type.Enum([...appealStates], { description: 'Open for 30 days, then `expired`.' }),
    event_id: text('The decision, in the audit log.'),
    request_id: orNull(Type.String(), 'Its request.'),
    project_id: orNull(Type.String(), 'The project of the request.'),
    policy: orNull(
      Type.Object(
        {
          id: text('The policy.'),
          name: orNull(Type.String(), 'Its name; null if it was deleted.'),
          version: orNull(Type.Integer(), 'The version that decided; null for the current one.'),
          rule: orNull(Type.String(), 'The rule. Null without the permission `policies:read`, and if it was deleted.'),
        },
        { title: 'AppealPolicy' },
      ),
      'The policy that decided, or that should have; null if the decision is not about a policy.',
    ),
    direction: Type.Enum([...textDirections], { description: 'The disputed text.' }),
    text: orNull(Type.String(), 'The disputed text, with `include=content`; null if it is not kept.'),
    is_text_kept: orNull(Type.Boolean(), 'Whether the text is kept, so that it can become a case; null in lists.'),
    may_review: flag('Whether you can label it: it is open, you did not open it, and have not labelled it.'),
    needs_third: flag('Whether people disagree, so that another person has to label it.'),
    blind: flag('True: the fields below down to `agreed` are left out, until you have labelled the appeal.'),
    claim: orNull(claim, 'What is said to be right in place of the decision.'),
    origin: orNull(
      Type.Enum([...appealOrigins]),
      'Who opened it: a key of the project, a person with the address of the decision, an administrator, or `judge`: a shadow and the active judge differ about the text.',
    ),
    opened_by: orNull(Type.String(), 'The key or member; null for a person with the address, and for judges.'),
    note: orNull(Type.String(), 'Why the decision was wrong. Null after it was erased, and without `content:read`.'),
    decision: orNull(Decision, 'What was decided; null also if the audit log no longer has it.'),
    labels: Type.Array(LabelOfAppeal, { description: 'What people said, the first one first.' }),
    agreed: orNull(Type.Enum(['match', 'no_match']), 'What people agree on; null if nobody is sure, or they disagree.'),
    opened_at: unixTime('When it was opened.'),
    expires_at: unixTime('When it expires, if nobody closes it.'),
    closed_at: orNull(Type.Integer(), 'When it was closed.'),
    closed_by: orNull(Type.String(), 'Who closed it.'),
    reason: orNull(Type.String(), 'The answer to who opened it.'),
    case_id: orNull(Type.String(), 'The case that the text became.'),
    draft_revision: orNull(
      Type.Integer(),
      'In the answer to a resolution with `draft`: the revision of the policy after the change.',
    ),
    exception_id: orNull(Type.String(), 'In the answer to a resolution with `exception`: the exception.'),
  },
  { title: 'Appeal', examples: [example] },
)

export type AppealBody = Static<typeof AppealObject>

const listed = { ...example, is_text_kept: null }
export const AppealList = listOf('AppealList', AppealObject, pageExample(listed))
