import type { OwnershipStore } from '../../../../domain/mutations/ownership.ts'
import type { Transaction } from '../database.ts'

/** Compare-and-set: of two owners that claim a resource at the same time, one gets it. */
const claimResource = `insert into managed_resource (organization_id, resource_id, owner) values ($1, $2, $3)
  on conflict (organization_id, resource_id) do update set owner = excluded.owner
  where managed_resource.owner = excluded.owner or cast($4 as bigint) = 1`

/** Owners of resources in SQL, in the given transaction. */
export function ownershipStore(tx: Transaction): OwnershipStore {
  return {
    async ownersOf(organizationId, resourceIds) {
      if (resourceIds.length === 0) return new Map()
      const rows = await tx.query<{ resource_id: string; owner: string }>(
        `select resource_id, owner from managed_resource
         where organization_id = $1 and resource_id in (${resourceIds.map((_, at) => `$${at + 2}`).join(', ')})`,
        [organizationId, ...resourceIds],
      )
      return new Map(rows.map(({ resource_id: id, owner }) => [id, owner]))
    },
    claim: async ({ organizationId, resourceId, owner, isTakeOver }) =>
      (await tx.run(claimResource, [organizationId, resourceId, owner, Number(isTakeOver)])) === 1,
    async release({ organizationId, resourceId, owner }) {
      const ofResource = 'delete from managed_resource where organization_id = $1 and resource_id = $2'
      if (owner !== undefined)
        return (await tx.run(`${ofResource} and owner = $3`, [organizationId, resourceId, owner])) === 1
      await tx.run(ofResource, [organizationId, resourceId])
      return true
    },
  }
}
