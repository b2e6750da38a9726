import Type, { type Static } from 'typebox'
import { isFault } from '../../base/fault.ts'
import { maxCaseBytes } from '../../domain/cases/cases.ts'
import { CreateCase } from '../../http/admin/policies/case-schema.ts'
import { requestOf } from '../../http/resources/scenario.ts'
import { createDecodeBody } from '../caller-formats.ts'
import type { FileProblem } from './file-problems.ts'

const { text, messages, dialect, direction, model, user, metadata } = CreateCase.properties.given.properties

export const CaseEntry = Type.Object(
  {
    says: CreateCase.properties.says,
    text,
    messages,
    dialect,
    direction,
    model,
    user,
    metadata,
    match: Type.Optional(Type.Boolean({ description: 'Whether the rule is expected to match.' })),
    at_least_bp: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'In place of `match`: the lowest score.' }),
    ),
    at_most_bp: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'In place of `match`: the highest score.' }),
    ),
    weight: CreateCase.properties.weight,
    tags: CreateCase.properties.tags,
  },
  { additionalProperties: false },
)

type CaseFileEntry = Static<typeof CaseEntry>

/** A case of a file, in the form of the API. */
export type FileCase = {
  readonly says: string
  readonly given: Readonly<Record<string, unknown>>
  readonly expect: 'match' | 'no_match' | { readonly at_least_bp?: number; readonly at_most_bp?: number }
  readonly weight: 'must' | 'should'
  readonly tags: readonly string[]
}

export function fileCaseOf(entry: CaseFileEntry): FileCase {
  const { says, match, at_least_bp: atLeast, at_most_bp: atMost, weight = 'must', tags = [], ...given } = entry
  const range = {
    ...(atLeast !== undefined && { at_least_bp: atLeast }),
    ...(atMost !== undefined && { at_most_bp: atMost }),
  }
  const expect = match === undefined ? range : match ? 'match' : 'no_match'
  return { says, given, expect, weight, tags }
}

const decodeBody = createDecodeBody()

/** What is wrong with the cases of one policy beyond what the schema of the file rejects. */
export function caseProblems(cases: readonly CaseFileEntry[]): FileProblem[] {
  return cases.flatMap((entry, at) => {
    const isRepeated = cases.findIndex(({ says }) => says === entry.says) !== at
    const repeated = {
      path: ['says'],
      message: `another case of the policy says ${JSON.stringify(entry.says)} as well`,
    }
    const problems = [...expectationProblems(entry), ...(isRepeated ? [repeated] : []), ...textProblems(entry)]
    return problems.map(({ path, message }) => ({ path: ['cases', at, ...path], message }))
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

function textProblems(entry: CaseFileEntry): FileProblem[] {
  try {
    const { given } = fileCaseOf(entry)
    if (Buffer.byteLength(JSON.stringify(given)) > maxCaseBytes)
      return [{ path: [], message: `the case has more than ${maxCaseBytes} bytes of JSON; shorten its text` }]
    const request = requestOf(given, decodeBody, '')
    return request === undefined ? [{ path: [], message: 'the case needs a text or messages' }] : []
  } catch (error) {
    if (!isFault(error)) throw error
    return [{ path: ['messages'], message: error.message.replace(/^\./, '').replace(/\.$/, '') }]
  }
}
