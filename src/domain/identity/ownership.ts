import { Fault } from '../../base/fault.ts'

export type OwnershipClaim = {
  readonly organizationId: string
  readonly resourceId: string
  /** The name of the files that manage the resource. */
  readonly owner: string
  /** Whether the resource may have another owner before. */
  readonly isTakeOver: boolean
}

/** Which files manage a resource. Most resources have no owner: people change them in the console or over the API. */
export type OwnershipStore = {
  /** The owners of those of the resources that have one. */
  ownersOf(organizationId: string, resourceIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Sets the owner. Returns false if the resource has another one and the claim is no take-over. */
  claim(claim: OwnershipClaim): Promise<boolean>
}

/** Sets the owner of a resource. Returns whether it had another one, or none, before. */
export async function claimResource(store: OwnershipStore, claim: OwnershipClaim): Promise<boolean> {
  const { organizationId, resourceId, owner } = claim
  const before = (await store.ownersOf(organizationId, [resourceId])).get(resourceId)
  if (before === owner) return false
  if (await store.claim(claim)) return true
  const message = `${resourceId} is managed from the files of ${before ?? 'another owner'}. Change it there, or take it over.`
  throw new Fault('conflict', 'managed_elsewhere', message)
}
