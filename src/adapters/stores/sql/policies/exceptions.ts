import type {
  ExceptionOwner,
  ExceptionStore,
  ExceptionSubject,
  ExpiredExceptions,
  PolicyException,
} from '../../../../domain/exceptions/exception.ts'
import type { Transaction } from '../database.ts'
import { selectPage } from '../page.ts'

const columns =
  'id, organization_id, policy_id, subject_kind, subjects, reason, owner, event_id, request_id, created_by, created_at, expires_at, ended_at, ended_by'

const isLive = 'ended_at is null and expires_at > $2'

/** Exceptions of policies in SQL, in the given transaction. */
export function exceptionStore(tx: Pick<Transaction, 'query' | 'run'>): ExceptionStore {
  return {
    async insert(exception) {
      await tx.run(
        `insert into policy_exception (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
        [
          exception.id,
          exception.organizationId,
          exception.policyId,
          exception.subject.kind,
          JSON.stringify(subjectsOf(exception.subject)),
          exception.reason,
          exception.owner,
          exception.eventId,
          exception.requestId,
          exception.createdBy,
          exception.createdAtMs,
          exception.expiresAtMs,
          exception.endedAtMs,
          exception.endedBy,
        ],
      )
    },
    async find({ organizationId, policyId }, id) {
      const sql = `select ${columns} from policy_exception where organization_id = $1 and policy_id = $2 and id = $3`
      const [row] = await tx.query<ExceptionRow>(sql, [organizationId, policyId, id])
      return row && exceptionOf(row)
    },
    list: (owner, page) =>
      selectPage(tx, { table: 'policy_exception', columns, where: ownedBy(owner), map: exceptionOf }, page),
    async listLive(organizationId, nowMs) {
      const sql = `select ${columns} from policy_exception where organization_id = $1 and ${isLive} order by expires_at, id`
      return (await tx.query<ExceptionRow>(sql, [organizationId, nowMs])).map(exceptionOf)
    },
    async countLive({ organizationId, policyId }, nowMs) {
      const sql = `select count(*) as live from policy_exception where organization_id = $1 and ${isLive} and policy_id = $3`
      const [row] = await tx.query<{ live: number }>(sql, [organizationId, nowMs, policyId])
      return row?.live ?? 0
    },
    end: async ({ organizationId, id }, by, atMs) =>
      (await tx.run(
        `update policy_exception set ended_at = $3, ended_by = $4
         where organization_id = $1 and id = $2 and ended_at is null and expires_at > $3`,
        [organizationId, id, atMs, by],
      )) === 1,
    async hasSubject(organizationId, kind, id) {
      const table = kind === 'project' ? 'project' : 'api_key'
      const sql = `select id from ${table} where organization_id = $1 and id = $2`
      return (await tx.query<{ id: string }>(sql, [organizationId, id])).length > 0
    },
  }
}

/** For the job that records expiries. */
export const expiredExceptions = (tx: Transaction): ExpiredExceptions => ({
  async find(organizationId, id) {
    const sql = `select ${columns} from policy_exception where organization_id = $1 and id = $2`
    const [row] = await tx.query<ExceptionRow>(sql, [organizationId, id])
    return row && exceptionOf(row)
  },
  markExpired: async ({ organizationId, id }) =>
    (await tx.run(
      `update policy_exception set expiry_recorded = 1
       where organization_id = $1 and id = $2 and ended_at is null and expiry_recorded = 0`,
      [organizationId, id],
    )) === 1,
})

const maxAtOnce = 100

/** Exceptions of all organizations that have expired and are not recorded. */
export async function listExpiredExceptions(
  tx: Pick<Transaction, 'query'>,
  nowMs: number,
): Promise<readonly Pick<PolicyException, 'organizationId' | 'id'>[]> {
  const rows = await tx.query<Pick<ExceptionRow, 'organization_id' | 'id'>>(
    `select organization_id, id from policy_exception
     where ended_at is null and expiry_recorded = 0 and expires_at <= $1 order by expires_at, id limit $2`,
    [nowMs, maxAtOnce],
  )
  return rows.map(({ organization_id: organizationId, id }) => ({ organizationId, id }))
}

const ownedBy = ({ organizationId, policyId }: ExceptionOwner) => ({
  organization_id: organizationId,
  policy_id: policyId,
})

const subjectsOf = (subject: ExceptionSubject): readonly string[] =>
  subject.kind === 'text' ? subject.digests : [subject.id]

function subjectOf(kind: string, subjects: readonly string[]): ExceptionSubject {
  const [id = ''] = subjects
  return kind === 'project' || kind === 'user' || kind === 'key' ? { kind, id } : { kind: 'text', digests: subjects }
}

type ExceptionRow = {
  id: string
  organization_id: string
  policy_id: string
  subject_kind: string
  subjects: string
  reason: string
  owner: string
  event_id: string | null
  request_id: string | null
  created_by: string
  created_at: number
  expires_at: number
  ended_at: number | null
  ended_by: string | null
}

/** The cast holds because only this store writes the column. */
const exceptionOf = (row: ExceptionRow): PolicyException => ({
  id: row.id,
  organizationId: row.organization_id,
  policyId: row.policy_id,
  subject: subjectOf(row.subject_kind, JSON.parse(row.subjects) as string[]),
  reason: row.reason,
  owner: row.owner,
  eventId: row.event_id,
  requestId: row.request_id,
  createdBy: row.created_by,
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
  endedAtMs: row.ended_at,
  endedBy: row.ended_by,
})
