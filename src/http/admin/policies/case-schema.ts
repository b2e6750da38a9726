import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { caseOrigins, caseWeights, type Expectation, type PolicyCase } from '../../../domain/cases/case.ts'
import { caseStates, type CaseResult } from '../../../domain/cases/run.ts'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { integer, number, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { scenarioFields } from '../../resources/scenario.ts'
import { policyExampleId, PolicyParams } from './schema.ts'

const strict = { additionalProperties: false }
const exampleId = 'case_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const CaseParams = Type.Object({ ...PolicyParams.properties, case_id: idText('The case.', exampleId) })

const says = text('What the case is about, in a few words.', {
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000]*$', // PostgreSQL stores none
  examples: ['asked outright'],
})
const { target: _target, flagged_categories: _categories, ...givenFields } = scenarioFields
const Given = Type.Object(givenFields, {
  ...strict,
  title: 'CaseInput',
  description:
    'The request or response that the rule is given, at most 16 kB of JSON. It needs a `text` or `messages`. Without a `project_id` the scope of the policy does not matter. Default of `direction`: `response` for a policy that evaluates only responses, otherwise `request`.',
})
const basisPoints = (description: string) => Type.Integer({ minimum: 0, maximum: 10_000, description })
const Range = Type.Object(
  {
    at_least_bp: Type.Optional(basisPoints('The lowest score, in basis points.')),
    at_most_bp: Type.Optional(basisPoints('The highest score, in basis points.')),
  },
  { ...strict, title: 'ScoreRange', description: 'The range of the score of the rule.' },
)
const expect = Type.Union([Type.Enum(['match', 'no_match']), Range], {
  description: 'What the rule is expected to say: whether it matches, or the range of its score.',
})
const weightText = '`must`: a draft that fails the case is wrong. `should`: a failure is only reported.'
const weight = Type.Enum([...caseWeights], { description: weightText })
const tags = Type.Array(text('A word to group cases by.', { minLength: 1, maxLength: 64 }), {
  maxItems: 20,
  description: 'Words to group cases by.',
})
const revision = integer('The revision that the caller has read. Responds with 409 if the case has changed since.', {
  minimum: 1,
  maximum: maxRevision,
  examples: [1],
})

export const CreateCase = Type.Object(
  {
    says,
    given: Given,
    expect,
    weight: Type.Optional(Type.Enum([...caseWeights], { description: `${weightText} Default: \`must\`.` })),
    origin: Type.Optional(
      Type.Enum([...caseOrigins], { description: 'Where the text comes from. Default: `written`.' }),
    ),
    event_id: Type.Optional(
      idText(
        'The audit event of the request that the text is of. Erasing the texts of the request deletes the case.',
        'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
      ),
    ),
    tags: Type.Optional(tags),
  },
  {
    ...strict,
    title: 'PolicyCaseCreate',
    examples: [
      { says: 'asked outright', given: { text: 'What is Project Falcon?' }, expect: 'match' },
      { says: 'the bird', given: { text: 'A falcon is a bird of prey.' }, expect: 'no_match', weight: 'should' },
    ],
  },
)

export const UpdateCase = Type.Object(
  {
    revision,
    says: Type.Optional(says),
    given: Type.Optional(Given),
    expect: Type.Optional(expect),
    weight: Type.Optional(weight),
    tags: Type.Optional(tags),
  },
  { ...strict, title: 'PolicyCaseUpdate', examples: [{ revision: 1, weight: 'should' }] },
)

const example = {
  id: exampleId,
  object: 'organization.policy.case',
  policy_id: policyExampleId,
  says: 'asked outright',
  given: { text: 'What is Project Falcon?' },
  expect: 'match',
  weight: 'must',
  origin: 'written',
  event_id: null,
  tags: [],
  labelled_by: 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8',
  labelled_at: 1_767_225_600,
  revision: 1,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

export const CaseObject = Type.Object(
  {
    id: text('The id of the case.'),
    object: Type.Literal('organization.policy.case'),
    policy_id: text('The policy.'),
    says,
    given: orNull(
      Given,
      'What the rule is given. Null if the text is of a request and the caller lacks the permission `content:read`.',
    ),
    expect,
    weight,
    origin: Type.Enum([...caseOrigins], { description: 'Where the text comes from.' }),
    event_id: orNull(Type.String(), 'The audit event of the request that the text is of.'),
    tags,
    labelled_by: text('The administrator key or member that decided what is expected.'),
    labelled_at: unixTime('When it was decided.'),
    revision: integer('Counts up with every change.'),
    created_at: unixTime('When the case was created.'),
    updated_at: unixTime('When it was changed.'),
  },
  { title: 'PolicyCase', examples: [example] },
)

export const CaseList = listOf('PolicyCaseList', CaseObject, pageExample(example))

export const DeletedCase = Type.Object(
  {
    id: text('The case that was deleted.'),
    object: Type.Literal('organization.policy.case.deleted'),
    deleted: Type.Literal(true),
  },
  {
    title: 'PolicyCaseDeleted',
    examples: [{ id: exampleId, object: 'organization.policy.case.deleted', deleted: true }],
  },
)

export const RunCasesBody = Type.Object(
  {
    use: Type.Optional(
      Type.Enum(['draft', 'published', 'version'], {
        description: 'Which content of the policy: the draft (the default), the current version, or `version`.',
      }),
    ),
    version: Type.Optional(
      integer('The number of the version, with `use: version`.', { minimum: 1, maximum: maxRevision }),
    ),
    ids: Type.Optional(
      Type.Array(idText('A case.', exampleId), { minItems: 1, maxItems: 1_000, description: 'Only these cases.' }),
    ),
    judge: Type.Optional(
      Type.Boolean({
        description:
          'Whether the judge model is called for a rule in plain language, which has a cost. Default: true. False: its cases are `not_evaluated`.',
      }),
    ),
  },
  { ...strict, title: 'PolicyCaseRunRequest', examples: [{ use: 'draft' }] },
)

const resultExample = {
  case_id: exampleId,
  says: 'asked outright',
  weight: 'must',
  state: 'passed',
  expected: 'match',
  got: 'match',
  score_bp: 10_000,
  not_evaluated: null,
  ms: 0.412,
}

export const CaseRunObject = Type.Object(
  {
    object: Type.Literal('organization.policy.case_run'),
    policy_id: text('The policy.'),
    passed: integer('The number of cases that passed.'),
    failed: integer('The number of cases that failed.'),
    not_evaluated: integer('The number of cases whose rule could not be evaluated. They have not passed.'),
    results: Type.Array(
      Type.Object(
        {
          case_id: text('The case.'),
          says,
          weight,
          state: Type.Enum([...caseStates], { description: 'Whether the rule said what is expected.' }),
          expected: expect,
          got: orNull(Type.Enum(['match', 'no_match']), 'What the rule said; null if it was not evaluated.'),
          score_bp: orNull(Type.Integer(), 'The score of the rule in basis points.'),
          not_evaluated: orNull(Type.String(), 'Why the rule was not evaluated.'),
          ms: number('How long the evaluation took, in milliseconds.'),
        },
        { title: 'PolicyCaseResult' },
      ),
      { description: 'The result of each case, the oldest case first.' },
    ),
  },
  {
    title: 'PolicyCaseRun',
    examples: [
      {
        object: 'organization.policy.case_run',
        policy_id: policyExampleId,
        passed: 1,
        failed: 0,
        not_evaluated: 0,
        results: [resultExample],
      },
    ],
  },
)

export type CaseRunBody = Static<typeof CaseRunObject>
export type CaseBody = Static<typeof CaseObject>

export const expectationOf = (body: Static<typeof expect>): Expectation =>
  typeof body === 'string' ? body : { atLeast: body.at_least_bp, atMost: body.at_most_bp }

const presentExpectation = (expected: Expectation): Static<typeof expect> => {
  if (typeof expected === 'string') return expected
  const { atLeast, atMost } = expected
  return { ...(atLeast !== undefined && { at_least_bp: atLeast }), ...(atMost !== undefined && { at_most_bp: atMost }) }
}

/** Texts of requests are shown only to those who may read them in the audit log. */
export const casePresenter =
  ({ mayReadContent }: { readonly mayReadContent: boolean }) =>
  (policyCase: PolicyCase): CaseBody => ({
    id: policyCase.id,
    object: 'organization.policy.case',
    policy_id: policyCase.policyId,
    says: policyCase.says,
    given: mayReadContent || policyCase.origin === 'written' ? policyCase.given : null,
    expect: presentExpectation(policyCase.expected),
    weight: policyCase.weight,
    origin: policyCase.origin,
    event_id: policyCase.eventId,
    tags: [...policyCase.tags],
    labelled_by: policyCase.labelledBy,
    labelled_at: toUnixSeconds(policyCase.labelledAtMs),
    revision: policyCase.revision,
    created_at: toUnixSeconds(policyCase.createdAtMs),
    updated_at: toUnixSeconds(policyCase.updatedAtMs),
  })

export const presentResult = (
  { says: about, weight: of, expected }: PolicyCase,
  result: CaseResult,
): CaseRunBody['results'][number] => ({
  case_id: result.caseId,
  says: about,
  weight: of,
  state: result.state,
  expected: presentExpectation(expected),
  got: result.got ?? null,
  score_bp: result.score ?? null,
  not_evaluated: result.reason ?? null,
  ms: Math.round(result.ms * 1000) / 1000,
})
