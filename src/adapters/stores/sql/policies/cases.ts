import type { Encryption } from '../../../../base/encryption.ts'
import {
  caseOrigins,
  caseWeights,
  type CaseInput,
  type CaseOwner,
  type CaseStore,
  type CaseWeight,
  type Expectation,
  type PolicyCase,
} from '../../../../domain/cases/case.ts'
import type { Transaction } from '../database.ts'
import { countRows, selectPage } from '../page.ts'

const columns =
  'id, organization_id, policy_id, says, sealed, expected, weight, origin, event_id, request_id, tags, labelled_by, labelled_at, revision, created_at, updated_at'

/** Cases in SQL, in the given transaction. Texts are encrypted, each bound to its case. */
export function caseStore(tx: Transaction, encryption: Encryption): CaseStore {
  const sealed = (policyCase: PolicyCase): Uint8Array =>
    encryption.encrypt(JSON.stringify(policyCase.given), contextOf(policyCase))
  const caseOf = (row: CaseRow): PolicyCase => {
    const { id, organization_id: organizationId } = row
    return {
      id,
      organizationId,
      policyId: row.policy_id,
      says: row.says,
      given: JSON.parse(encryption.decrypt(row.sealed, contextOf({ organizationId, id }))) as CaseInput,
      expected: JSON.parse(row.expected) as Expectation,
      weight: weightOf(row.weight),
      origin: caseOrigins.find((origin) => origin === row.origin) ?? 'written',
      eventId: row.event_id,
      requestId: row.request_id,
      tags: JSON.parse(row.tags) as string[],
      labelledBy: row.labelled_by,
      labelledAtMs: row.labelled_at,
      revision: row.revision,
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
    }
  }
  const select = (owner: CaseOwner, condition: string, ...values: readonly string[]): Promise<CaseRow[]> =>
    tx.query<CaseRow>(
      `select ${columns} from policy_case where organization_id = $1 and policy_id = $2 ${condition} order by id`,
      [owner.organizationId, owner.policyId, ...values],
    )

  return {
    async insert(policyCase) {
      await tx.run(
        `insert into policy_case (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
        [
          policyCase.id,
          policyCase.organizationId,
          policyCase.policyId,
          policyCase.says,
          sealed(policyCase),
          JSON.stringify(policyCase.expected),
          policyCase.weight,
          policyCase.origin,
          policyCase.eventId,
          policyCase.requestId,
          JSON.stringify(policyCase.tags),
          policyCase.labelledBy,
          policyCase.labelledAtMs,
          policyCase.revision,
          policyCase.createdAtMs,
          policyCase.updatedAtMs,
        ],
      )
    },
    async find(owner, id) {
      const [row] = await select(owner, 'and id = $3', id)
      return row && caseOf(row)
    },
    list: (owner, page) => selectPage(tx, { table: 'policy_case', columns, where: ownedBy(owner), map: caseOf }, page),
    all: async (owner) => (await select(owner, '')).map(caseOf),
    async revisions({ organizationId, policyId }) {
      const rows = await tx.query<Pick<CaseRow, 'id' | 'revision' | 'weight'>>(
        'select id, revision, weight from policy_case where organization_id = $1 and policy_id = $2 order by id',
        [organizationId, policyId],
      )
      return rows.map(({ id, revision, weight }) => ({ id, revision, weight: weightOf(weight) }))
    },
    count: (owner) => countRows(tx, { table: 'policy_case', where: ownedBy(owner) }),
    replace: async (policyCase) =>
      (await tx.run(
        `update policy_case set says = $3, sealed = $4, expected = $5, weight = $6, tags = $7, labelled_by = $8,
           labelled_at = $9, revision = $10, updated_at = $11
         where organization_id = $1 and id = $2 and revision = $10 - 1`,
        [
          policyCase.organizationId,
          policyCase.id,
          policyCase.says,
          sealed(policyCase),
          JSON.stringify(policyCase.expected),
          policyCase.weight,
          JSON.stringify(policyCase.tags),
          policyCase.labelledBy,
          policyCase.labelledAtMs,
          policyCase.revision,
          policyCase.updatedAtMs,
        ],
      )) === 1,
    async remove({ organizationId, policyId }, id) {
      await tx.run('delete from policy_case where organization_id = $1 and policy_id = $2 and id = $3', [
        organizationId,
        policyId,
        id,
      ])
    },
    async requestOf(organizationId, eventId) {
      const sql = 'select request_id from audit_event where organization_id = $1 and id = $2'
      const [row] = await tx.query<{ request_id: string | null }>(sql, [organizationId, eventId])
      return row?.request_id ?? undefined
    },
  }
}

const weightOf = (stored: string): CaseWeight => caseWeights.find((weight) => weight === stored) ?? 'must'

const ownedBy = ({ organizationId, policyId }: CaseOwner) => ({
  organization_id: organizationId,
  policy_id: policyId,
})

/** The encryption context: a text that is moved to another case cannot be decrypted. */
const contextOf = ({ organizationId, id }: Pick<PolicyCase, 'organizationId' | 'id'>): string =>
  `${organizationId} ${id}`

type CaseRow = {
  id: string
  organization_id: string
  policy_id: string
  says: string
  sealed: Uint8Array
  expected: string
  weight: string
  origin: string
  event_id: string | null
  request_id: string | null
  tags: string
  labelled_by: string
  labelled_at: number
  revision: number
  created_at: number
  updated_at: number
}
