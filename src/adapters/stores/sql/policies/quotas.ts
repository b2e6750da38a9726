import { hash } from 'node:crypto'
import type { QuotaClaim } from '../../../../domain/gateway-config/quota.ts'
import type { QuotaStore, Reservation } from '../../../../domain/gateway-config/quota-store.ts'
import { UnexpectedRows, type Database, type Statement, type Transaction, type Value } from '../database.ts'

/** Updates the row only if requests and tokens stay within their limits; 0 means no limit. */
const takeOne = `insert into quota_use
    (organization_id, subject_kind, subject, period, starts_at, ends_at, requests, tokens)
  select $1, $2, $3, $4, cast($5 as bigint), cast($6 as bigint), 1, cast($7 as bigint)
  where cast($9 as bigint) = 0 or cast($7 as bigint) <= cast($9 as bigint)
  on conflict (organization_id, subject_kind, subject, period, starts_at) do update
    set requests = quota_use.requests + 1, tokens = quota_use.tokens + excluded.tokens
    where (cast($8 as bigint) = 0 or quota_use.requests < cast($8 as bigint))
      and (cast($9 as bigint) = 0 or quota_use.tokens + excluded.tokens <= cast($9 as bigint))`

const reserveOne = `insert into quota_reservation
    (organization_id, subject_kind, subject, period, starts_at, id, tokens, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`

const correctOne = `update quota_use set tokens = tokens + $6
  where organization_id = $1 and subject_kind = $2 and subject = $3 and period = $4 and starts_at = $5`

const readOne = `select requests, tokens, (
    select coalesce(sum(tokens), 0) from quota_reservation
    where organization_id = $1 and subject_kind = $2 and subject = $3 and period = $4 and starts_at = $5
  ) as reserved
  from quota_use
  where organization_id = $1 and subject_kind = $2 and subject = $3 and period = $4 and starts_at = $5`

/** Maximum number of expired reservations that one transaction releases. */
const releasedAtOnce = 200

/** Quotas in SQL. Claims are always in the same order, so that two requests cannot deadlock on each other's rows. */
export function quotaStore(database: Database): QuotaStore {
  return {
    async take(claims, reservation) {
      const taking = claims.map((claim) => takingOf(claim, reservation.tokens))
      const reserving = reservation.tokens === 0 ? [] : claims.map((claim) => reservingOf(claim, reservation))
      try {
        await database.write([...taking, ...reserving], { waitsForDisk: false })
        return undefined
      } catch (error) {
        if (error instanceof UnexpectedRows) return claims[error.statement]
        throw error
      }
    },

    async used(claims) {
      const reads = claims.map(async (claim) => {
        const [row] = await database.read(readOne, subjectOf(claim))
        return {
          requests: Number(row?.['requests'] ?? 0),
          tokens: Number(row?.['tokens'] ?? 0),
          reservedTokens: Number(row?.['reserved'] ?? 0),
        }
      })
      return Promise.all(reads)
    },

    async settle(claims, { id, tokens }, usedTokens) {
      const correcting = (by: number): Statement[] =>
        by === 0 ? [] : claims.map((claim) => ({ sql: correctOne, params: [...subjectOf(claim), by] }))
      const addUsed = async (): Promise<void> => {
        if (usedTokens > 0) await database.write(correcting(usedTokens), { waitsForDisk: false })
      }
      if (tokens === 0) return addUsed()
      // Deleting the rows decides who releases the tokens: this request, or `releaseExpired`.
      const releasing: Statement = {
        sql: 'delete from quota_reservation where id = $1',
        params: [id],
        expect: claims.length,
      }
      try {
        await database.write([releasing, ...correcting(usedTokens - tokens)], { waitsForDisk: false })
      } catch (error) {
        if (!(error instanceof UnexpectedRows)) throw error
        await addUsed()
      }
    },

    async releaseExpired(nowMs) {
      const expired = 'select distinct id from quota_reservation where expires_at <= $1 order by id limit $2'
      for (;;) {
        const rows = await database.read<{ id: string }>(expired, [nowMs, releasedAtOnce])
        for (const { id } of rows) await database.transaction((tx) => release(tx, id))
        if (rows.length < releasedAtOnce) return
      }
    },

    async removeEnded(beforeMs) {
      await database.write([{ sql: 'delete from quota_use where ends_at <= $1', params: [beforeMs] }])
    },
  }
}

async function release(tx: Transaction, id: string): Promise<void> {
  const columns = 'organization_id, subject_kind, subject, period, starts_at, tokens'
  const rows = await tx.query(`select ${columns} from quota_reservation where id = $1 order by subject_kind desc`, [id])
  const deleted = await tx.run('delete from quota_reservation where id = $1', [id])
  if (deleted !== rows.length) return
  for (const row of rows) {
    const { organization_id, subject_kind, subject, period, starts_at, tokens } = row
    const window = [organization_id, subject_kind, subject, period, starts_at].map((value) => value ?? null)
    await tx.run(correctOne, [...window, -Number(tokens)])
  }
}

const takingOf = (claim: QuotaClaim, tokens: number): Statement => ({
  sql: takeOne,
  params: [...subjectOf(claim), claim.window.endMs, tokens, claim.quota.requests, claim.quota.tokens],
  expect: 1,
})

const reservingOf = (claim: QuotaClaim, { id, tokens, expiresAtMs }: Reservation): Statement => ({
  sql: reserveOne,
  params: [...subjectOf(claim), id, tokens, expiresAtMs],
})

const subjectOf = ({ organizationId, subjectKind, subjectId, quota, window }: QuotaClaim): Value[] => [
  organizationId,
  subjectKind,
  subjectKind === 'user' ? hash('sha256', subjectId, 'base64url') : subjectId,
  quota.window,
  window.startMs,
]
