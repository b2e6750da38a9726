import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Actor, AuditLogStore, Recorded } from './audit-log.ts'
import type { ChangeOrganization } from './changes.ts'

/** Runs a change and writes down who made it: both happen, or neither. */
export type Administer<Stores> = <T>(actor: Actor, work: (stores: Stores) => Promise<Recorded<T>>) => Promise<T>

export type AdministerParts<Stores> = {
  readonly change: ChangeOrganization<Stores>
  readonly ids: Ids
  readonly clock: Clock
}

export function createAdminister<Stores extends { readonly audit: AuditLogStore }>({
  change,
  ids,
  clock,
}: AdministerParts<Stores>): Administer<Stores> {
  return (actor, work) =>
    change(actor.organizationId, async (stores) => {
      const { value, record } = await work(stores)
      if (record) await stores.audit.append({ ...record, id: ids('evt'), actor, atMs: clock.nowMs() })
      return value
    })
}
