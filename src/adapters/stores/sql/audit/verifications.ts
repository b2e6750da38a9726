import type { Clock } from '../../../../base/clock.ts'
import {
  verificationStates,
  type Verification,
  type VerificationQueue,
  type VerificationStore,
} from '../../../../domain/audit/verification/verification.ts'
import type { Database, Transaction } from '../database.ts'
import { selectPage } from '../page.ts'

type VerificationRow = {
  id: string
  organization_id: string
  state: string
  from_sequence: number | null
  to_sequence: number | null
  checked: number
  total: number
  resume_at: string | null
  result: string | null
  created_at: number
  updated_at: number
}

const columns =
  'id, organization_id, state, from_sequence, to_sequence, checked, total, resume_at, result, created_at, updated_at'

/** Of each organization. */
const mostKept = 20

/** Verifications of the audit log in SQL, in the given transaction. */
export function verificationStore(tx: Transaction): VerificationStore {
  const findOne = async (where: string, params: readonly string[]): Promise<Verification | undefined> => {
    const [row] = await tx.query<VerificationRow>(
      `select ${columns} from audit_verification where organization_id = $1 and ${where}`,
      params,
    )
    return row && verificationOf(row)
  }
  return {
    async insert(verification) {
      const inserted = await tx.run(
        `insert into audit_verification (${columns}, lease_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)
         on conflict do nothing`,
        valuesOf(verification),
      )
      if (inserted === 0) return false
      await tx.run(
        `delete from audit_verification where organization_id = $1 and id not in (
           select id from audit_verification where organization_id = $1 order by id desc limit ${mostKept})`,
        [verification.organizationId],
      )
      return true
    },
    find: (organizationId, id) => findOne('id = $2', [organizationId, id]),
    findRunning: (organizationId) => findOne(`state = 'running'`, [organizationId]),
    list: (organizationId, page) =>
      selectPage(
        tx,
        { table: 'audit_verification', columns, where: { organization_id: organizationId }, map: verificationOf },
        page,
      ),
  }
}

export type VerificationQueueParts = {
  readonly database: Database
  readonly clock: Clock
  /** Identifies this process among all workers. */
  readonly owner: string
  readonly leaseMs: number
}

const isFree = `state = 'running' and lease_until <= $1`

/** The queue of running verifications, shared by all nodes. */
export function verificationQueue({ database, clock, owner, leaseMs }: VerificationQueueParts): VerificationQueue {
  return {
    async claim() {
      const nowMs = clock.nowMs()
      const sql = `select id from audit_verification where ${isFree} order by id limit 1`
      const [free] = await database.read<{ id: string }>(sql, [nowMs])
      if (!free) return undefined
      const [claimed] = await database.write([
        {
          sql: `update audit_verification set owner = $3, lease_until = $4 where ${isFree} and id = $2 returning ${columns}`,
          params: [nowMs, free.id, owner, nowMs + leaseMs],
        },
      ])
      const [row] = (claimed?.rows ?? []) as VerificationRow[]
      return row && verificationOf(row)
    },
    async save({ id, state, checked, total, cursor, result, updatedAtMs }) {
      const [saved] = await database.write([
        {
          sql: `update audit_verification set state = $3, checked = $4, total = $5, resume_at = $6, result = $7, updated_at = $8,
            lease_until = $9
            where id = $1 and owner = $2 and state = 'running'`,
          params: [
            id,
            owner,
            state,
            checked,
            total,
            cursor && JSON.stringify(cursor),
            result && JSON.stringify(result),
            updatedAtMs,
            clock.nowMs() + leaseMs,
          ],
        },
      ])
      return saved?.changed === 1
    },
    async release(id) {
      const sql = 'update audit_verification set owner = null, lease_until = 0 where id = $1 and owner = $2'
      await database.write([{ sql, params: [id, owner] }])
    },
  }
}

/** For the embedded database: it has one process, so at startup all leases belong to a process that has ended. */
export async function releaseVerificationLeases(database: Database): Promise<void> {
  await database.write([{ sql: `update audit_verification set owner = null, lease_until = 0 where state = 'running'` }])
}

const valuesOf = (verification: Verification) => [
  verification.id,
  verification.organizationId,
  verification.state,
  verification.from,
  verification.to,
  verification.checked,
  verification.total,
  verification.cursor && JSON.stringify(verification.cursor),
  verification.result && JSON.stringify(verification.result),
  verification.createdAtMs,
  verification.updatedAtMs,
]

/** The casts hold because only this store writes the JSON columns. */
const verificationOf = (row: VerificationRow): Verification => ({
  id: row.id,
  organizationId: row.organization_id,
  state: verificationStates.find((state) => state === row.state) ?? 'failed',
  from: row.from_sequence,
  to: row.to_sequence,
  checked: row.checked,
  total: row.total,
  cursor: row.resume_at === null ? null : (JSON.parse(row.resume_at) as Verification['cursor']),
  result: row.result === null ? null : (JSON.parse(row.result) as Verification['result']),
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})
