/** What cases of policies and of the gateway configuration have in common in requests and responses. */
import Type, { type TSchema } from 'typebox'
import { toUnixSeconds } from '../../base/clock.ts'
import { caseOrigins, caseWeights, type AnyCase } from '../../domain/cases/case.ts'
import { caseStates, type CaseResult, type GatewayCaseResult } from '../../domain/cases/run.ts'
import { holds, type Permission } from '../../domain/identity/permissions.ts'
import { maxRevision } from '../../domain/policy/policy.ts'
import { integer, number, text } from '../described.ts'
import { invalidField } from '../validate.ts'
import { idText, orNull, unixTime } from './fields.ts'
import { requestOf, scenarioFields, type DecodeBody, type ScenarioBody } from './scenario.ts'

export const caseExampleId = 'case_01k9z8y7x6w5v4t3s2r1q0p9n8'

const says = text('What the case is about, in a few words.', {
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000]*$', // PostgreSQL stores none
  examples: ['asked outright'],
})
const { target: _target, flagged_categories: _categories, ...givenFields } = scenarioFields
const Given = Type.Object(givenFields, {
  additionalProperties: false,
  title: 'CaseInput',
  description:
    'The request or response that is evaluated, at most 16 kB of JSON. It needs a `text` or `messages`. Without a `project_id` the scope of a policy does not matter. Default of `direction`: `response` for a policy that evaluates only responses, otherwise `request`.',
})
const weightText = '`must`: a change that fails the case is wrong. `should`: a failure is only reported.'
const weight = Type.Enum([...caseWeights], { description: weightText })
const tags = Type.Array(text('A word to group cases by.', { minLength: 1, maxLength: 64 }), {
  maxItems: 20,
  description: 'Words to group cases by.',
})

export const createCaseFields = <S extends TSchema>(expect: S) => ({
  says,
  given: Given,
  expect,
  weight: Type.Optional(Type.Enum([...caseWeights], { description: `${weightText} Default: \`must\`.` })),
  origin: Type.Optional(Type.Enum([...caseOrigins], { description: 'Where the text comes from. Default: `written`.' })),
  event_id: Type.Optional(
    idText(
      'The audit event of the request that the text is of. Erasing the texts of the request deletes the case.',
      'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
    ),
  ),
  tags: Type.Optional(tags),
})

export const updateCaseFields = <S extends TSchema>(expect: S) => ({
  revision: integer('The revision that the caller has read. Responds with 409 if the case has changed since.', {
    minimum: 1,
    maximum: maxRevision,
    examples: [1],
  }),
  says: Type.Optional(says),
  given: Type.Optional(Given),
  expect: Type.Optional(expect),
  weight: Type.Optional(weight),
  tags: Type.Optional(tags),
})

export const caseFields = <S extends TSchema>(expect: S) => ({
  says,
  given: orNull(
    Given,
    'What is evaluated. Null if the text is of a request and the caller lacks the permission `content:read`.',
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
})

export const caseExampleFields = {
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

export const caseIds = Type.Optional(
  Type.Array(idText('A case.', caseExampleId), { minItems: 1, maxItems: 1_000, description: 'Only these cases.' }),
)

export const caseRunFields = {
  passed: integer('The number of cases that passed.'),
  failed: integer('The number of cases that failed.'),
  not_evaluated: integer('The number of cases that could not be evaluated. They have not passed.'),
}

export const caseResultFields = <S extends TSchema>(expect: S) => ({
  case_id: text('The case.'),
  says,
  weight,
  state: Type.Enum([...caseStates], { description: 'Whether the result is what is expected.' }),
  expected: expect,
})

export const caseResultEndFields = {
  not_evaluated: orNull(Type.String(), 'Why the case was not evaluated.'),
  ms: number('How long the evaluation took, in milliseconds.'),
}

/** Texts of requests are shown only to those who may read them in the audit log. */
export const presentCase = (
  one: Omit<AnyCase, 'policyId' | 'expected'>,
  { permissions }: { readonly permissions: ReadonlySet<Permission> },
) => ({
  says: one.says,
  given: holds(permissions, 'content:read') || one.origin === 'written' ? one.given : null,
  weight: one.weight,
  origin: one.origin,
  event_id: one.eventId,
  tags: [...one.tags],
  labelled_by: one.labelledBy,
  labelled_at: toUnixSeconds(one.labelledAtMs),
  revision: one.revision,
  created_at: toUnixSeconds(one.createdAtMs),
  updated_at: toUnixSeconds(one.updatedAtMs),
})

type AnyResult = Pick<CaseResult | GatewayCaseResult, 'caseId' | 'state' | 'reason' | 'ms'>

export const presentCaseResult = (
  { says: about, weight: of }: Pick<AnyCase, 'says' | 'weight'>,
  { caseId, state, reason, ms }: AnyResult,
) => ({
  case_id: caseId,
  says: about,
  weight: of,
  state,
  not_evaluated: reason ?? null,
  ms: Math.round(ms * 1000) / 1000,
})

export function countStates(results: readonly AnyResult[]) {
  const count = (state: AnyResult['state']): number => results.filter((result) => result.state === state).length
  return { passed: count('passed'), failed: count('failed'), not_evaluated: count('not_evaluated') }
}

/** Those with the ids, or all. `owner` is for the message: `the policy`. */
export function chosenCases<C extends { readonly id: string }>(
  all: readonly C[],
  ids: readonly string[] | undefined,
  owner: string,
): readonly C[] {
  if (ids === undefined) return all
  const unknown = ids.findIndex((id) => !all.some((each) => each.id === id))
  if (unknown !== -1) throw invalidField(['ids', unknown], `must name a case of ${owner}`)
  return all.filter(({ id }) => ids.includes(id))
}

/** A text that could not be evaluated later is rejected now. */
export function requireDecodable(given: ScenarioBody, decodeBody: DecodeBody): void {
  if (requestOf(given, decodeBody, 'given') === undefined)
    throw invalidField(['given', 'text'], 'is required, or messages')
}
