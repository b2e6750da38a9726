import type { Expectation } from '../../domain/cases/case.ts'
import { requestOf } from '../../http/resources/scenario.ts'
import { createDecodeBody } from '../../app/caller-formats.ts'
import type { CaseFileEntry, PolicyResourceEntry } from '../../app/client/resource-files.ts'
import type { FileProblem } from '../../app/client/file-problems.ts'
import { isFault } from '../../base/fault.ts'
import type { Located, Resources } from '../as-code/files.ts'

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

export const expectationOf = ({ expect }: FileCase): Expectation =>
  typeof expect === 'string' ? expect : { atLeast: expect.at_least_bp, atMost: expect.at_most_bp }

/** What is wrong with the cases of all policies, with file and line. */
export function caseProblems({ policies }: Pick<Resources, 'policies'>): string[] {
  const decodeBody = createDecodeBody()
  return policies.flatMap((policy) =>
    (policy.value.cases ?? []).flatMap((entry, at) =>
      problemsOf(policy.value, at, () => requestOf(fileCaseOf(entry).given, decodeBody, '')).map(
        ({ path, message }) => `${policy.at(['cases', at, ...path])}: ${message}.`,
      ),
    ),
  )
}

function problemsOf({ cases = [] }: PolicyResourceEntry, at: number, decode: () => unknown): FileProblem[] {
  const { says, match, at_least_bp: atLeast, at_most_bp: atMost } = cases[at] ?? {}
  const problems: FileProblem[] = []
  const isRange = atLeast !== undefined || atMost !== undefined
  if (match === undefined && !isRange)
    problems.push({ path: [], message: 'the case needs match, at_least_bp or at_most_bp' })
  if (match !== undefined && isRange) problems.push({ path: ['match'], message: 'write either match or a range' })
  if (cases.findIndex((each) => each.says === says) !== at)
    problems.push({ path: ['says'], message: `another case of the policy says ${JSON.stringify(says)} as well` })
  try {
    if (decode() === undefined) problems.push({ path: [], message: 'the case needs a text or messages' })
  } catch (error) {
    if (!isFault(error)) throw error
    problems.push({ path: ['messages'], message: error.message.replace(/^\./, '').replace(/\.$/, '') })
  }
  return problems
}

/** The policies of the files that have cases. */
export const policiesWithCases = ({ policies }: Pick<Resources, 'policies'>): readonly Located<PolicyResourceEntry>[] =>
  policies.filter(({ value }) => (value.cases ?? []).length > 0)
