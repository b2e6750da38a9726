import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Actor, AuditLogStore, WithAuditRecord } from './audit-log.ts'
import type { ChangeOrganization } from './changes.ts'

/** Runs a mutation and writes its audit record with the actor, in one transaction. */
export type AuditedMutation<Stores> = <T>(
  actor: Actor,
  work: (stores: Stores) => Promise<WithAuditRecord<T>>,
) => Promise<T>

export type AuditedMutationParts<Stores> = {
  readonly change: ChangeOrganization<Stores>
  readonly ids: Ids
  readonly clock: Clock
}

export function createAuditedMutation<Stores extends { readonly audit: AuditLogStore }>({
  change,
  ids,
  clock,
}: AuditedMutationParts<Stores>): AuditedMutation<Stores> {
  return (actor, work) =>
    change(actor.organizationId, async (stores) => {
      const { value, record, further = [] } = await work(stores)
      for (const each of [...further, ...(record ? [record] : [])])
        await stores.audit.append({ ...each, id: ids('evt'), actor, atMs: clock.nowMs() })
      return value
    })
}
