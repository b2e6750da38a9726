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
  /** Removes the owner of a resource that is deleted. Returns false if `owner` is given and is not the stored one. */
  release(removal: OwnedRemoval): Promise<boolean>
}

export type OwnedRemoval = {
  readonly organizationId: string
  readonly resourceId: string
  /** The only owner whose resource may be removed; undefined removes it whatever files manage it. */
  readonly owner: string | undefined
}

/** Sets the owner of a resource. Returns whether it had another one, or none, before. */
export async function claimResource(store: OwnershipStore, claim: OwnershipClaim): Promise<boolean> {
  const { organizationId, resourceId, owner } = claim
  const before = (await store.ownersOf(organizationId, [resourceId])).get(resourceId)
  if (before === owner) return false
  if (await store.claim(claim)) return true
  throw managedElsewhere(
    `${resourceId} is managed from the files of ${before ?? 'another owner'}. Change it there, or take it over.`,
  )
}

/** Removes the owner together with the resource. */
export async function releaseResource(store: OwnershipStore, removal: OwnedRemoval): Promise<void> {
  if (!(await store.release(removal))) throw notManagedBy(removal)
}

/** For a removal that keeps the owner, such as archiving. */
export async function requireOwner(store: OwnershipStore, removal: OwnedRemoval): Promise<void> {
  const { organizationId, resourceId, owner } = removal
  if (owner === undefined) return
  const stored = (await store.ownersOf(organizationId, [resourceId])).get(resourceId)
  if (stored !== owner) throw notManagedBy(removal)
}

const notManagedBy = ({ resourceId, owner }: OwnedRemoval): Fault =>
  managedElsewhere(`${resourceId} is no longer managed from the files of ${owner}. Read it again.`)

const managedElsewhere = (message: string): Fault => new Fault('conflict', 'managed_elsewhere', message)
