import type { Encryption } from '../../../../base/encryption.ts'
import {
  caseOrigins,
  caseWeights,
  type AnyCase,
  type CaseInput,
  type CaseOwner,
  type CaseStore,
  type CaseWeight,
  type Expectation,
  type ExpectedDecision,
  type GatewayCase,
} from '../../../../domain/cases/case.ts'
import type { Transaction } from '../database.ts'
import { countRows, selectPage } from '../page.ts'

const columns =
  'id, organization_id, policy_id, says, sealed, expected, weight, origin, event_id, request_id, tags, labelled_by, labelled_at, revision, created_at, updated_at'

/** Cases of policies in SQL, in the given transaction. Texts are encrypted, each bound to its case. */
export const caseStore = (tx: Transaction, encryption: Encryption): CaseStore =>
  storeOf(tx, encryption, (row) => ({
    policyId: row.policy_id ?? '',
    expected: JSON.parse(row.expected) as Expectation,
  }))

/** Cases of the gateway configuration. */
export const gatewayCaseStore = (tx: Transaction, encryption: Encryption): CaseStore<GatewayCase> =>
  storeOf(tx, encryption, (row) => ({ policyId: null, expected: JSON.parse(row.expected) as ExpectedDecision }))

/** The fields in which the cases of policies and those of the gateway configuration differ. */
type OwnFields<C extends AnyCase> = Pick<C, 'policyId' | 'expected'>

function storeOf<C extends AnyCase>(
  tx: Transaction,
  encryption: Encryption,
  ownFields: (row: CaseRow) => OwnFields<C>,
): CaseStore<C> {
  const sealed = (one: C): Uint8Array => encryption.encrypt(JSON.stringify(one.given), contextOf(one))
  const caseOf = (row: CaseRow): C => {
    const { id, organization_id: organizationId } = row
    const shared: Omit<AnyCase, keyof OwnFields<C>> = {
      id,
      organizationId,
      says: row.says,
      given: JSON.parse(encryption.decrypt(row.sealed, contextOf({ organizationId, id }))) as CaseInput,
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
    return { ...shared, ...ownFields(row) } as C
  }
  const select = async (owner: CaseOwner<C>, id?: string): Promise<CaseRow[]> => {
    const { where, params } = ownedRows(owner, id)
    return await tx.query<CaseRow>(`select ${columns} from policy_case where ${where} order by id`, params)
  }

  return {
    async insert(one) {
      await tx.run(
        `insert into policy_case (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
        [
          one.id,
          one.organizationId,
          one.policyId,
          one.says,
          sealed(one),
          JSON.stringify(one.expected),
          one.weight,
          one.origin,
          one.eventId,
          one.requestId,
          JSON.stringify(one.tags),
          one.labelledBy,
          one.labelledAtMs,
          one.revision,
          one.createdAtMs,
          one.updatedAtMs,
        ],
      )
    },
    async find(owner, id) {
      const [row] = await select(owner, id)
      return row && caseOf(row)
    },
    list: (owner, page) => selectPage(tx, { table: 'policy_case', columns, where: ownedBy(owner), map: caseOf }, page),
    all: async (owner) => (await select(owner)).map(caseOf),
    async revisions(owner) {
      const { where, params } = ownedRows(owner, undefined)
      const rows = await tx.query<Pick<CaseRow, 'id' | 'revision' | 'weight'>>(
        `select id, revision, weight from policy_case where ${where} order by id`,
        params,
      )
      return rows.map(({ id, revision, weight }) => ({ id, revision, weight: weightOf(weight) }))
    },
    count: (owner) => countRows(tx, { table: 'policy_case', where: ownedBy(owner) }),
    replace: async (one) =>
      (await tx.run(
        `update policy_case set says = $3, sealed = $4, expected = $5, weight = $6, tags = $7, labelled_by = $8,
           labelled_at = $9, revision = $10, updated_at = $11
         where organization_id = $1 and id = $2 and revision = $10 - 1`,
        [
          one.organizationId,
          one.id,
          one.says,
          sealed(one),
          JSON.stringify(one.expected),
          one.weight,
          JSON.stringify(one.tags),
          one.labelledBy,
          one.labelledAtMs,
          one.revision,
          one.updatedAtMs,
        ],
      )) === 1,
    async remove(owner, id) {
      const { where, params } = ownedRows(owner, id)
      await tx.run(`delete from policy_case where ${where}`, params)
    },
    async requestOf(organizationId, eventId) {
      const sql = 'select request_id from audit_event where organization_id = $1 and id = $2'
      const [row] = await tx.query<{ request_id: string | null }>(sql, [organizationId, eventId])
      return row?.request_id ?? undefined
    },
  }
}

const weightOf = (stored: string): CaseWeight => caseWeights.find((weight) => weight === stored) ?? 'must'

/** The rows of an owner, or the one with the id. */
function ownedRows({ organizationId, policyId }: CaseOwner<AnyCase>, id: string | undefined) {
  const params = [organizationId, ...(policyId === null ? [] : [policyId]), ...(id === undefined ? [] : [id])]
  const ofOwner = policyId === null ? 'policy_id is null' : 'policy_id = $2'
  return {
    where: `organization_id = $1 and ${ofOwner}${id === undefined ? '' : ` and id = $${params.length}`}`,
    params,
  }
}

const ownedBy = ({ organizationId, policyId }: CaseOwner<AnyCase>) => ({
  organization_id: organizationId,
  policy_id: policyId,
})

/** The encryption context: a text that is moved to another case cannot be decrypted. */
const contextOf = ({ organizationId, id }: Pick<AnyCase, 'organizationId' | 'id'>): string => `${organizationId} ${id}`

type CaseRow = {
  id: string
  organization_id: string
  /** Null: the gateway configuration. */
  policy_id: string | null
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
