import Type, { type Static } from 'typebox'
import { isFault } from '../../base/fault.ts'
import { maxCaseBytes } from '../../domain/cases/cases.ts'
import { CreateCase } from '../../http/admin/policies/case-schema.ts'
import { CreateGatewayCase } from '../../http/policy-gateway/config/case-schema.ts'
import { requestOf } from '../../http/resources/scenario.ts'
import { createDecodeBody } from '../caller-formats.ts'
import type { FileProblem } from './file-problems.ts'

const { text, messages, dialect, direction, model, user, metadata } = CreateCase.properties.given.properties

/** What a case is about and what is evaluated. */
const about = { says: CreateCase.properties.says, text, messages, dialect, direction, model, user, metadata }
const { weight, tags } = CreateCase.properties

export const CaseEntry = Type.Object(
  {
    ...about,
    match: Type.Optional(Type.Boolean({ description: 'Whether the rule is expected to match.' })),
    at_least_bp: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'In place of `match`: the lowest score.' }),
    ),
    at_most_bp: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'In place of `match`: the highest score.' }),
    ),
    weight,
    tags,
  },
  { additionalProperties: false },
)

export const GatewayCaseEntry = Type.Object(
  { ...about, decision: CreateGatewayCase.properties.expect, weight, tags },
  { additionalProperties: false },
)

type CaseFileEntry = Static<typeof CaseEntry>
type GatewayCaseFileEntry = Static<typeof GatewayCaseEntry>

/** A case of a file, in the form of the API. */
type FileCaseOf<Expected> = {
  readonly says: string
  readonly given: Readonly<Record<string, unknown>>
  readonly expect: Expected
  readonly weight: 'must' | 'should'
  readonly tags: readonly string[]
}

export type FileCase = FileCaseOf<
  'match' | 'no_match' | { readonly at_least_bp?: number; readonly at_most_bp?: number }
>
export type GatewayFileCase = FileCaseOf<GatewayCaseFileEntry['decision']>

export function fileCaseOf(entry: CaseFileEntry): FileCase {
  const {
    says,
    match,
    at_least_bp: atLeast,
    at_most_bp: atMost,
    weight: of = 'must',
    tags: words = [],
    ...given
  } = entry
  const range = {
    ...(atLeast !== undefined && { at_least_bp: atLeast }),
    ...(atMost !== undefined && { at_most_bp: atMost }),
  }
  const expect = match === undefined ? range : match ? 'match' : 'no_match'
  return { says, given, expect, weight: of, tags: words }
}

export function gatewayFileCaseOf(entry: GatewayCaseFileEntry): GatewayFileCase {
  const { says, decision: expect, weight: of = 'must', tags: words = [], ...given } = entry
  return { says, given, expect, weight: of, tags: words }
}

const decodeBody = createDecodeBody()

/** What is wrong with the cases of one policy beyond what the schema of the file rejects. */
export const caseProblems = (cases: readonly CaseFileEntry[]): FileProblem[] =>
  problemsOfEach(cases, 'the policy', (entry) => [
    ...expectationProblems(entry),
    ...textProblems(fileCaseOf(entry).given),
  ])

/** The same for those of the gateway configuration. */
export const gatewayCaseProblems = (cases: readonly GatewayCaseFileEntry[]): FileProblem[] =>
  problemsOfEach(cases, 'the gateway configuration', (entry) => textProblems(gatewayFileCaseOf(entry).given))

function problemsOfEach<Entry extends { readonly says: string }>(
  cases: readonly Entry[],
  owner: string,
  problemsOf: (entry: Entry) => readonly FileProblem[],
): FileProblem[] {
  return cases.flatMap((entry, at) => {
    const isRepeated = cases.findIndex(({ says }) => says === entry.says) !== at
    const message = `another case of ${owner} says ${JSON.stringify(entry.says)} as well`
    const problems = [...problemsOf(entry), ...(isRepeated ? [{ path: ['says'], message }] : [])]
    return problems.map((problem) => ({ ...problem, path: ['cases', at, ...problem.path] }))
  })
}

function expectationProblems({ match, at_least_bp: atLeast, at_most_bp: atMost }: CaseFileEntry): FileProblem[] {
  const isRange = atLeast !== undefined || atMost !== undefined
  if (match === undefined && !isRange) return [{ path: [], message: 'the case needs match, at_least_bp or at_most_bp' }]
  if (match !== undefined && isRange) return [{ path: ['match'], message: 'write either match or a range' }]
  return (atLeast ?? 0) > (atMost ?? 10_000)
    ? [{ path: ['at_least_bp'], message: 'at_least_bp: must not be above at_most_bp' }]
    : []
}

function textProblems(given: FileCase['given']): FileProblem[] {
  try {
    if (Buffer.byteLength(JSON.stringify(given)) > maxCaseBytes)
      return [{ path: [], message: `the case has more than ${maxCaseBytes} bytes of JSON; shorten its text` }]
    const request = requestOf(given, decodeBody, '')
    return request === undefined ? [{ path: [], message: 'the case needs a text or messages' }] : []
  } catch (error) {
    if (!isFault(error)) throw error
    return [{ path: ['messages'], message: error.message.replace(/^\./, '').replace(/\.$/, '') }]
  }
}
