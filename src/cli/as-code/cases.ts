import { isDeepStrictEqual } from 'node:util'
import { apiPath, type ApiClient } from '../../app/client/api-client.ts'
import { fileCaseOf, gatewayFileCaseOf, type FileCase, type GatewayFileCase } from '../../app/client/file-cases.ts'
import type { PolicyResourceEntry, ResourceFileBody } from '../../app/client/resource-files.ts'
import type { CaseBody } from '../../http/admin/policies/case-schema.ts'
import type { GatewayCaseBody } from '../../http/policy-gateway/config/case-schema.ts'
import { leafDiffLines } from '../leaf-diff.ts'
import type { FieldDifference } from '../policies/diff.ts'

/** How the cases of one owner change. */
type CaseChanges = {
  readonly differences: readonly FieldDifference[]
  readonly lines: readonly string[]
  applyAt(client: ApiClient, path: string): Promise<void>
}

/** How the cases of one policy change. */
export type PlannedCases = Pick<CaseChanges, 'differences' | 'lines'> & {
  /** Call it when the policy exists. */
  apply(client: ApiClient, policyId: string): Promise<void>
}

export type PlannedGatewayCases = Pick<CaseChanges, 'differences' | 'lines'> & {
  apply(client: ApiClient): Promise<void>
}

export async function planCases(
  client: ApiClient,
  { cases: wanted }: Pick<PolicyResourceEntry, 'cases'>,
  policyId: string | undefined,
): Promise<PlannedCases> {
  const stored = wanted === undefined || policyId === undefined ? [] : await readCases(client, policyId)
  const changes = changesOf((wanted ?? []).map(fileCaseOf), stored)
  return { ...changes, apply: (applying, id) => changes.applyAt(applying, casesPath(id)) }
}

export async function planGatewayCases(
  client: ApiClient,
  { cases: wanted }: Pick<NonNullable<ResourceFileBody['gateway']>, 'cases'>,
): Promise<PlannedGatewayCases> {
  const stored = wanted === undefined ? [] : await readGatewayCases(client)
  const changes = changesOf((wanted ?? []).map(gatewayFileCaseOf), stored)
  return { ...changes, apply: (applying) => changes.applyAt(applying, gatewayCasesPath) }
}

type AnyFileCase = FileCase | GatewayFileCase
type AnyCaseBody = CaseBody | GatewayCaseBody

/**
 * Compares the cases of a file with those that somebody wrote, by what they say. Cases that come from requests stay. Without
 * cases in the file, all stay.
 */
function changesOf(cases: readonly AnyFileCase[], all: readonly AnyCaseBody[]): CaseChanges {
  const stored = all.filter(({ origin }) => origin === 'written')
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
    async applyAt(client, path) {
      for (const body of created) await client.post(path, body)
      for (const { before, after } of changed)
        await client.request('PATCH', `${path}/${before.id}`, { body: { ...after, revision: before.revision } })
      for (const { id } of deleted) await client.request('DELETE', `${path}/${id}`)
    },
  }
}

const casesPath = (policyId: string): string => apiPath`/v1/organization/policies/${policyId}/cases`
const gatewayCasesPath = '/api/policy-gateway/config/cases'

export const readCases = async (client: ApiClient, policyId: string): Promise<readonly CaseBody[]> =>
  (await client.list<CaseBody>(casesPath(policyId))).data

export const readGatewayCases = async (client: ApiClient): Promise<readonly GatewayCaseBody[]> =>
  (await client.list<GatewayCaseBody>(gatewayCasesPath)).data

const comparable = ({ given, expect, weight, tags }: AnyFileCase | AnyCaseBody) => ({ given, expect, weight, tags })

const isSame = (before: AnyCaseBody, after: AnyFileCase): boolean =>
  isDeepStrictEqual(comparable(before), comparable(after))

/** Without the text, which may be long. */
const differenceOf = (before: AnyCaseBody | undefined, after: AnyFileCase | undefined): FieldDifference => ({
  field: `case ${JSON.stringify((after ?? before)?.says)}`,
  before: before && shown(before),
  after: after && shown(after),
})

function shown({ given, expect, weight }: AnyFileCase | AnyCaseBody): string {
  const expected = typeof expect === 'string' ? expect : JSON.stringify(expect)
  const text = given === null ? '' : (given['text'] ?? JSON.stringify(given))
  return `${expected}, ${weight}: ${clipped(String(text))}`
}

const maxShown = 60
const clipped = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text)

export type StoredPolicyCases = readonly CaseBody[]
export type StoredGatewayCases = readonly GatewayCaseBody[]

/** For an export. */
export function exportedCase(each: CaseBody): object[] {
  const { expect } = each
  return writtenCase(each, typeof expect === 'string' ? { match: expect === 'match' } : expect)
}

export const exportedGatewayCase = (each: GatewayCaseBody): object[] => writtenCase(each, { decision: each.expect })

/** Only cases that somebody wrote: the text of a request does not belong in a file. */
function writtenCase({ says, given, weight, tags, origin }: AnyCaseBody, expected: object): object[] {
  if (origin !== 'written' || given === null) return []
  return [{ says, ...given, ...expected, ...(weight === 'should' && { weight }), ...(tags.length > 0 && { tags }) }]
}
