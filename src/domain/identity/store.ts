import type { StoredDigest } from './key-digests.ts'
import type { AdminKey, ApiKey, Organization, Project } from './principal.ts'

/** `secretId` names the server secret of its digest; null where that was never noted. */
export type FoundKey<K> = { readonly key: K; readonly organization: Organization; readonly secretId: string | null }

/** Those keys that exist, by their digests. */
export type FoundKeys<K> = ReadonlyMap<string, FoundKey<K>>

/** What authentication reads. Look-ups go by digest, never by comparison over rows; many digests cost one query. */
export type CredentialStore = {
  findApiKeys(digests: readonly string[]): Promise<FoundKeys<ApiKey>>
  findAdminKeys(digests: readonly string[]): Promise<FoundKeys<AdminKey>>
  /** For tokens of an issuer: the project they name, where it exists in that organization and is not archived. */
  findProject(
    organizationId: string,
    projectId: string,
  ): Promise<{ project: Project; organization: Organization } | undefined>
  /** Notes the use; rows noted less than a minute before stay as they are. */
  touchKey(kind: 'api_key' | 'admin_key', id: string, atMs: number): Promise<void>
  /** Stores a key's digest under another server secret, unless somebody else did since `from` was read. */
  replaceDigest(key: { kind: 'api_key' | 'admin_key'; id: string; from: string }, to: StoredDigest): Promise<void>
  /** True for the first request of this client while the day's cap is not reached; then it is used up. */
  claimFreeRequest(claim: FreeClaim): Promise<boolean>
  /** Gives the place back: nothing was answered for it. */
  releaseFreeRequest(client: string): Promise<void>
}

export type FreeClaim = {
  readonly client: string
  /** The same client under other server secrets: one of them may have used it up already. */
  readonly aliases: readonly string[]
  readonly atMs: number
  readonly rememberMs: number
  readonly dailyCap: number
}

export const pageOrders = ['asc', 'desc'] as const

/** A page of a list that is ordered by id, which is the order of creation. */
export type Page = { readonly limit: number; readonly after?: string; readonly order: (typeof pageOrders)[number] }
/** A page of keys; those that are revoked can be left out. */
export type KeyPage = Page & { readonly withoutRevoked?: boolean }
export type Paged<T> = { readonly items: readonly T[]; readonly hasMore: boolean }

/** What administration reads and writes. Every look-up names the organization first: nobody reaches another's rows. */
export type DirectoryStore = {
  insertOrganization(organization: Organization): Promise<void>
  listOrganizations(page: Page): Promise<Paged<Organization>>
  findOrganization(id: string): Promise<Organization | undefined>
  /** False where there is no such organization, here and below. */
  setPlan(organizationId: string, plan: string): Promise<boolean>
  setMetered(organizationId: string, metered: boolean): Promise<boolean>
  addPayment(organizationId: string, microUsd: number): Promise<boolean>
  /** True for the one organization that may be the first: two nodes that start together do not both set up. */
  claimInstallation(organizationId: string): Promise<boolean>

  insertProject(project: Project): Promise<void>
  listProjects(organizationId: string, page: Page): Promise<Paged<Project>>
  findProject(organizationId: string, id: string): Promise<Project | undefined>
  renameProject(organizationId: string, id: string, name: string): Promise<boolean>
  archiveProject(organizationId: string, id: string, atMs: number): Promise<boolean>

  insertApiKey(key: ApiKey, digest: StoredDigest): Promise<void>
  listApiKeys(organizationId: string, projectId: string, page: KeyPage): Promise<Paged<ApiKey>>
  findApiKey(organizationId: string, id: string): Promise<ApiKey | undefined>
  /** Writes name, permissions, models, expiry and allowed addresses. False where there is no such key, or it is revoked. */
  updateApiKey(key: ApiKey): Promise<boolean>
  /** False where there is no such key, or it was revoked before. */
  revokeApiKey(organizationId: string, id: string, atMs: number): Promise<boolean>

  insertAdminKey(key: AdminKey, digest: StoredDigest): Promise<void>
  listAdminKeys(organizationId: string, page: KeyPage): Promise<Paged<AdminKey>>
  findAdminKey(organizationId: string, id: string): Promise<AdminKey | undefined>
  updateAdminKey(key: AdminKey): Promise<boolean>
  revokeAdminKey(organizationId: string, id: string, atMs: number): Promise<boolean>
  /** Until the end of the transaction, others that ask for the same wait. */
  lockAdminKeys(organizationId: string): Promise<void>
  /** Whether another key of its organization has the permission `*` and works at this time. */
  hasOtherOwner(key: AdminKey, nowMs: number): Promise<boolean>
}
