import { hash } from 'node:crypto'
import type { QuotaClaim } from '../../../../domain/gateway/quota.ts'
import type { QuotaStore } from '../../../../domain/gateway/quota-store.ts'
import { UnexpectedRows, type Database, type Statement, type Value } from '../database.ts'

/** Touches its one row only where both numbers stay within; a limit of 0 is none. */
const takeOne = `insert into quota_use
    (organization_id, subject_kind, subject, period, starts_at, ends_at, requests, tokens)
  select $1, $2, $3, $4, cast($5 as bigint), cast($6 as bigint), 1, cast($7 as bigint)
  where cast($9 as bigint) = 0 or cast($7 as bigint) <= cast($9 as bigint)
  on conflict (organization_id, subject_kind, subject, period, starts_at) do update
    set requests = quota_use.requests + 1, tokens = quota_use.tokens + excluded.tokens
    where (cast($8 as bigint) = 0 or quota_use.requests < cast($8 as bigint))
      and (cast($9 as bigint) = 0 or quota_use.tokens + excluded.tokens <= cast($9 as bigint))`

const correctOne = `update quota_use set tokens = tokens + $6
  where organization_id = $1 and subject_kind = $2 and subject = $3 and period = $4 and starts_at = $5`

/** Quotas in SQL. Claims come in one order everywhere, so that no two requests wait for each other's rows. */
export function quotaStore(database: Database): QuotaStore {
  return {
    async take(claims, tokens) {
      try {
        await database.write(claims.map((claim) => taking(claim, tokens)))
        return undefined
      } catch (error) {
        if (error instanceof UnexpectedRows) return claims[error.statement]
        throw error
      }
    },
    async correct(claims, tokens) {
      if (tokens === 0) return
      await database.write(claims.map((claim) => ({ sql: correctOne, params: [...placeOf(claim), tokens] })))
    },
    async removeEnded(beforeMs) {
      await database.write([{ sql: 'delete from quota_use where ends_at <= $1', params: [beforeMs] }])
    },
  }
}

const taking = (claim: QuotaClaim, tokens: number): Statement => ({
  sql: takeOne,
  params: [...placeOf(claim), claim.window.endMs, tokens, claim.quota.requests, claim.quota.tokens],
  expect: 1,
})

const placeOf = ({ organizationId, subjectKind, subjectId, quota, window }: QuotaClaim): Value[] => [
  organizationId,
  subjectKind,
  subjectKind === 'user' ? hash('sha256', subjectId, 'base64url') : subjectId,
  quota.window,
  window.startMs,
]
