import { isDeepStrictEqual } from 'node:util'
import { apiPath, type ApiClient } from '../../app/client/api-client.ts'
import { fileCaseOf, type FileCase } from '../../app/client/file-cases.ts'
import type { PolicyResourceEntry } from '../../app/client/resource-files.ts'
import type { CaseBody } from '../../http/admin/policies/case-schema.ts'
import { leafDiffLines } from '../leaf-diff.ts'
import type { FieldDifference } from '../policies/diff.ts'

/** How the cases of one policy change. */
export type PlannedCases = {
  readonly differences: readonly FieldDifference[]
  readonly lines: readonly string[]
  /** Call it when the policy exists. */
  apply(client: ApiClient, policyId: string): Promise<void>
}

/**
 * Compares the cases of a file with those that somebody wrote, by what they say. Cases that come from requests stay. Without
 * cases in the file, all stay.
 */
export async function planCases(
  client: ApiClient,
  { cases: wanted }: Pick<PolicyResourceEntry, 'cases'>,
  policyId: string | undefined,
): Promise<PlannedCases> {
  const all = wanted === undefined || policyId === undefined ? [] : await readCases(client, policyId)
  const stored = all.filter(({ origin }) => origin === 'written')
  const cases = (wanted ?? []).map(fileCaseOf)
  const created = cases.filter(({ says }) => !stored.some((each) => each.says === says))
  const changed = cases.flatMap((after) => {
    const before = stored.find(({ says }) => says === after.says)
    return before === undefined || isSame(before, after) ? [] : [{ before, after }]
  })
  const deleted = stored.filter(({ says }) => !cases.some((each) => each.says === says))
  const differences = [
    ...created.map((after) => differenceOf(undefined, after)),
    ...changed.map(({ before, after }) => differenceOf(before, after)),
    ...deleted.map((before) => differenceOf(before, undefined)),
  ]
  return {
    differences,
    lines: leafDiffLines(differences),
    async apply(applying, id) {
      const path = apiPath`/v1/organization/policies/${id}/cases`
      for (const body of created) await applying.post(path, body)
      for (const { before, after } of changed)
        await applying.request('PATCH', `${path}/${before.id}`, { body: { ...after, revision: before.revision } })
      for (const { id: caseId } of deleted) await applying.request('DELETE', `${path}/${caseId}`)
    },
  }
}

export const readCases = async (client: ApiClient, policyId: string): Promise<readonly CaseBody[]> =>
  (await client.list<CaseBody>(apiPath`/v1/organization/policies/${policyId}/cases`)).data

const comparable = ({ given, expect, weight, tags }: FileCase | CaseBody) => ({ given, expect, weight, tags })

const isSame = (before: CaseBody, after: FileCase): boolean => isDeepStrictEqual(comparable(before), comparable(after))

/** Without the text, which may be long. */
const differenceOf = (before: CaseBody | undefined, after: FileCase | undefined): FieldDifference => ({
  field: `case ${JSON.stringify((after ?? before)?.says)}`,
  before: before && shown(before),
  after: after && shown(after),
})

function shown({ given, expect, weight }: FileCase | CaseBody): string {
  const expected = typeof expect === 'string' ? expect : JSON.stringify(expect)
  const text = given === null ? '' : (given['text'] ?? JSON.stringify(given))
  return `${expected}, ${weight}: ${clipped(String(text))}`
}

const maxShown = 60
const clipped = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text)
