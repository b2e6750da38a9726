import Type, { type Static } from 'typebox'
import type { Expectation, PolicyCase } from '../../../domain/cases/case.ts'
import type { CaseResult } from '../../../domain/cases/run.ts'
import type { Permission } from '../../../domain/identity/permissions.ts'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { integer, text } from '../../described.ts'
import {
  caseExampleFields,
  caseExampleId,
  caseFields,
  caseIds,
  caseResultEndFields,
  caseResultFields,
  caseRunFields,
  createCaseFields,
  presentCase,
  presentCaseResult,
  updateCaseFields,
} from '../../resources/cases.ts'
import { idText, orNull } from '../../resources/fields.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { policyExampleId, PolicyParams } from './schema.ts'

const strict = { additionalProperties: false }

export const CaseParams = Type.Object({ ...PolicyParams.properties, case_id: idText('The case.', caseExampleId) })

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

export const CreateCase = Type.Object(createCaseFields(expect), {
  ...strict,
  title: 'PolicyCaseCreate',
  examples: [
    { says: 'asked outright', given: { text: 'What is Project Falcon?' }, expect: 'match' },
    { says: 'the bird', given: { text: 'A falcon is a bird of prey.' }, expect: 'no_match', weight: 'should' },
  ],
})

export const UpdateCase = Type.Object(updateCaseFields(expect), {
  ...strict,
  title: 'PolicyCaseUpdate',
  examples: [{ revision: 1, weight: 'should' }],
})

const example = {
  id: caseExampleId,
  object: 'organization.policy.case',
  policy_id: policyExampleId,
  says: 'asked outright',
  given: { text: 'What is Project Falcon?' },
  expect: 'match',
  ...caseExampleFields,
}

export const CaseObject = Type.Object(
  {
    id: text('The id of the case.'),
    object: Type.Literal('organization.policy.case'),
    policy_id: text('The policy.'),
    ...caseFields(expect),
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
    examples: [{ id: caseExampleId, object: 'organization.policy.case.deleted', deleted: true }],
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
    ids: caseIds,
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
  case_id: caseExampleId,
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
    ...caseRunFields,
    results: Type.Array(
      Type.Object(
        {
          ...caseResultFields(expect),
          got: orNull(Type.Enum(['match', 'no_match']), 'What the rule said; null if it was not evaluated.'),
          score_bp: orNull(Type.Integer(), 'The score of the rule in basis points.'),
          ...caseResultEndFields,
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

export const casePresenter =
  (actor: { readonly permissions: ReadonlySet<Permission> }) =>
  (policyCase: PolicyCase): CaseBody => ({
    id: policyCase.id,
    object: 'organization.policy.case',
    policy_id: policyCase.policyId,
    expect: presentExpectation(policyCase.expected),
    ...presentCase(policyCase, actor),
  })

export const presentResult = (policyCase: PolicyCase, result: CaseResult): CaseRunBody['results'][number] => ({
  ...presentCaseResult(policyCase, result),
  expected: presentExpectation(policyCase.expected),
  got: result.got ?? null,
  score_bp: result.score ?? null,
})
