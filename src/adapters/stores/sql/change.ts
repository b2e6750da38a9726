import { everySoOften, type Clock } from '../../../base/clock.ts'
import type { ChangeOrganization, Changes } from '../../../domain/identity/changes.ts'
import type { Database, Transaction } from './database.ts'

/** Nodes look this far back, so that clocks may disagree by minutes; the version tells what is really new. */
const lookBackMs = 10 * 60 * 1000

export type ChangeParts<Stores> = {
  readonly database: Database
  readonly clock: Clock
  readonly changes: Changes
  readonly open: (tx: Transaction) => Stores
}

/** Every change raises the organization's version in its own transaction: that is how other nodes learn of it. */
export function createChange<Stores>({
  database,
  clock,
  changes,
  open,
}: ChangeParts<Stores>): ChangeOrganization<Stores> {
  return async (organizationId, work) => {
    const result = await database.transaction(async (tx) => {
      const outcome = await work(open(tx))
      await tx.run('update organization set version = version + 1, changed_at = $2 where id = $1', [
        organizationId,
        clock.nowMs(),
      ])
      return outcome
    })
    changes.announce(organizationId)
    return result
  }
}

export type WatchParts = {
  readonly database: Database
  readonly clock: Clock
  readonly changes: Changes
  readonly everyMs: number
  readonly onError: (error: unknown) => void
}

/**
 * Announces what other nodes changed. Needed with PostgreSQL only: an embedded database has one process.
 * Begins with a look that announces nothing: at that point nothing is remembered that could be stale.
 */
export async function watchChanges({ database, clock, changes, everyMs, onError }: WatchParts): Promise<Disposable> {
  const seen = new Map<string, number>()

  const look = async (announce: (organizationId: string) => void): Promise<void> => {
    const sql = 'select id, version from organization where changed_at > $1'
    const params = [clock.nowMs() - lookBackMs]
    for (const { id, version } of await database.read<{ id: string; version: number }>(sql, params)) {
      if (seen.get(id) === version) continue
      seen.set(id, version)
      announce(id)
    }
  }
  await look(() => {})
  return everySoOften(clock, () => look(changes.announce).catch(onError), everyMs)
}
