import type { Clock } from '../../../base/clock.ts'
import type { ChangeOrganization, Changes } from '../../../domain/mutations/changes.ts'
import type { Database, Transaction, Value } from './database.ts'

/** How far back nodes query, so that clocks may differ by minutes. The version shows which changes are new. */
const lookBackMs = 10 * 60 * 1000

/** Bounds the parameters of one statement. */
const maxPerStatement = 500

export type ChangeStoreParts<Stores> = {
  readonly database: Database
  readonly clock: Clock
  readonly changes: Changes
  readonly open: (tx: Transaction) => Stores
}

/** Every change increments the organization's version in its transaction, which is how other nodes detect it. */
export function createChange<Stores>({
  database,
  clock,
  changes,
  open,
}: ChangeStoreParts<Stores>): ChangeOrganization<Stores> {
  return async (organizationId, work) => {
    const sinceMs = clock.nowMs() - lookBackMs
    const { value, revoked } = await database.transaction(async (tx) => {
      const outcome = await work(open(tx))
      await tx.run('update organization set version = version + 1, changed_at = $2 where id = $1', [
        organizationId,
        clock.nowMs(),
      ])
      const [sql, params] = revokedBetween({ sinceMs, nowMs: clock.nowMs() }, [organizationId])
      return { value: outcome, revoked: await tx.query<{ id: string }>(sql, params) }
    })
    changes.announce(organizationId, idsOf(revoked))
    return value
  }
}

export type ChangePollParts = {
  readonly database: Database
  readonly clock: Clock
  readonly changes: Changes
}

/**
 * Returns a function that announces what other nodes changed since its last call. Needed with PostgreSQL only, because an
 * embedded database has one process. What changed before the first call is not announced: nothing is cached yet.
 */
export async function createChangePoll({ database, clock, changes }: ChangePollParts): Promise<() => Promise<void>> {
  const seen = new Map<string, number>()

  const changed = async (sinceMs: number): Promise<readonly Version[]> => {
    const sql = 'select id, version from organization where changed_at > $1'
    const rows = await database.read<Version>(sql, [sinceMs])
    return rows.filter(({ id, version }) => seen.get(id) !== version)
  }
  const poll = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    const sinceMs = nowMs - lookBackMs
    const unseen = await changed(sinceMs)
    // Mark a version as seen only after its revocations are read, because an outage may begin between the two reads.
    for (let at = 0; at < unseen.length; at += maxPerStatement) {
      const group = unseen.slice(at, at + maxPerStatement)
      const [sql, params] = revokedBetween(
        { sinceMs, nowMs },
        group.map(({ id }) => id),
      )
      const revoked = idsOf(await database.read<{ id: string }>(sql, params))
      for (const { id, version } of group) {
        seen.set(id, version)
        changes.announce(id, revoked)
      }
    }
  }
  for (const { id, version } of await changed(clock.nowMs() - lookBackMs)) seen.set(id, version)
  return poll
}

type Version = { readonly id: string; readonly version: number }

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id)

type Span = { readonly sinceMs: number; readonly nowMs: number }

/**
 * The keys that were revoked, the projects that were archived, the members that were removed or suspended and the secrets
 * that a rotation ended in these organizations. A rotation ends the replaced secret at its expiry, and the one before that at once.
 */
function revokedBetween({ sinceMs, nowMs }: Span, organizationIds: readonly string[]): [sql: string, params: Value[]] {
  const within = `organization_id in (${organizationIds.map((_, at) => `$${at + 3}`).join(', ')})`
  const ofKeys = (table: string): string =>
    `select id from ${table} where ${within} and revoked_at > $1
     union all select id || ' ' || cast(secret_number - 1 as text) from ${table}
       where ${within} and previous_expires_at > $1 and previous_expires_at <= $2
     union all select id || ' ' || cast(secret_number - 2 as text) from ${table}
       where ${within} and previous_expires_at > $1`
  const sql = `${ofKeys('api_key')} union all ${ofKeys('admin_key')}
    union all select id from project where ${within} and archived_at > $1
    union all select id from member where ${within} and (removed_at > $1 or suspended_at > $1)`
  return [sql, [sinceMs, nowMs, ...organizationIds]]
}
