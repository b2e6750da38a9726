import type { StoredDigest } from './key-digests.ts'
import type { AdminKey, ApiKey, Organization, Project } from './principal.ts'

export type FoundKey<K> = {
  readonly key: K
  readonly organization: Organization
  /** The server secret of the digest; null for rows from before it was stored. */
  readonly secretId: string | null
  /** Which of the key's secrets has this digest. Each rotation adds 1. */
  readonly secretNumber: number
  /** When this secret stops working although the key remains valid; null for the key's current secret. */
  readonly secretExpiresAtMs: number | null
  /** The project is archived. The key is invalid until it is unarchived. */
  readonly isArchived?: true
}

/** The keys that exist, by digest. */
export type FoundKeys<K> = ReadonlyMap<string, FoundKey<K>>

/** The storage of authentication. Keys are looked up by digest, many digests in one query. */
export type CredentialStore = {
  findApiKeys(digests: readonly string[]): Promise<FoundKeys<ApiKey>>
  findAdminKeys(digests: readonly string[]): Promise<FoundKeys<AdminKey>>
  /** For tokens: the project, if it exists in the organization and is not archived. */
  findProject(
    organizationId: string,
    projectId: string,
  ): Promise<{ project: Project; organization: Organization } | undefined>
  /** Sets the time of the last use, unless it was set less than a minute before. */
  touchKey(kind: 'api_key' | 'admin_key', id: string, atMs: number): Promise<void>
  /** Compare-and-set of one digest of a key: writes `to` only if the stored digest is still `from`. */
  replaceDigest(key: { kind: 'api_key' | 'admin_key'; id: string; from: string }, to: StoredDigest): Promise<void>
  /** Returns true for the first request of this client, while the daily cap is not reached. */
  claimFreeRequest(claim: FreeClaim): Promise<boolean>
  /**
   * For a claimed request that was not answered: takes it out of the count of its day. With `isUsedUp` the client has used its
   * free request nevertheless.
   */
  releaseFreeRequest(claim: Pick<FreeClaim, 'client' | 'atMs'> & { readonly isUsedUp: boolean }): Promise<void>
}

export type FreeClaim = {
  readonly client: string
  /** The same client under other server secrets; the free request may be used up under one of them. */
  readonly aliases: readonly string[]
  readonly atMs: number
  readonly rememberMs: number
  readonly dailyCap: number
}

export const pageOrders = ['asc', 'desc'] as const

/** A page of a list that is ordered by id, which is the order of creation. */
export type Page = { readonly limit: number; readonly after?: string; readonly order: (typeof pageOrders)[number] }

export const projectStatuses = ['active', 'archived'] as const
export const keyStatuses = ['active', 'expired', 'revoked'] as const

/** A page of named objects; `search` is part of the name, in any case. */
export type NamedPage = Page & { readonly search?: string }
export type ProjectPage = NamedPage & { readonly status?: (typeof projectStatuses)[number] }
/** A page of keys: by default all of them, optionally without revoked ones, or those with one status at a time. */
export type KeyPage = NamedPage & {
  readonly withoutRevoked?: boolean
  readonly status?: { readonly is: (typeof keyStatuses)[number]; readonly nowMs: number }
  /** Keys that never expire are left out. */
  readonly expiresBeforeMs?: number
}
export type ProjectKeyPage = KeyPage & { readonly projectId?: string }
/** An API key with its project. */
export type ProjectKey = ApiKey & { readonly project: Pick<Project, 'name' | 'archivedAtMs'> }
/** How many keys have this list of models; null for keys that may use all models. */
export type KeysByModels = { readonly models: readonly string[] | null; readonly count: number }
export type Paged<T> = { readonly items: readonly T[]; readonly hasMore: boolean }

/** An owner, and what limits its use. */
export type OwnerRef = Pick<AdminKey, 'organizationId' | 'id' | 'expiresAtMs' | 'allowedIps'>

/** The storage of organizations, projects and keys. Every lookup takes the organization first, for tenant isolation. */
export type DirectoryStore = {
  insertOrganization(organization: Organization): Promise<void>
  listOrganizations(page: Page): Promise<Paged<Organization>>
  findOrganization(id: string): Promise<Organization | undefined>
  /** Returns false if the organization does not exist, here and below. */
  updateOrganization(
    organizationId: string,
    fields: Partial<Pick<Organization, 'name' | 'plan' | 'metered'>>,
  ): Promise<boolean>
  addPayment(organizationId: string, microUsd: number): Promise<boolean>
  /** Returns true for one caller only, so that two nodes that start together do not both create the first organization. */
  claimInstallation(organizationId: string): Promise<boolean>

  insertProject(project: Project): Promise<void>
  listProjects(organizationId: string, page: ProjectPage): Promise<Paged<Project>>
  findProject(organizationId: string, id: string): Promise<Project | undefined>
  renameProject(organizationId: string, id: string, name: string): Promise<boolean>
  archiveProject(organizationId: string, id: string, atMs: number): Promise<boolean>
  unarchiveProject(organizationId: string, id: string): Promise<boolean>

  insertApiKey(key: ApiKey, digest: StoredDigest): Promise<void>
  listApiKeys(organizationId: string, projectId: string, page: KeyPage): Promise<Paged<ApiKey>>
  /** Keys of all projects, or of one. */
  listProjectKeys(organizationId: string, page: ProjectKeyPage): Promise<Paged<ProjectKey>>
  /** Counts the keys that work at this time. */
  countKeysByModels(organizationId: string, nowMs: number): Promise<readonly KeysByModels[]>
  findApiKey(organizationId: string, id: string): Promise<ApiKey | undefined>
  /** Writes name, permissions, models, expiry and allowed addresses. Returns false if the key is unknown or revoked. */
  updateApiKey(key: ApiKey): Promise<boolean>
  /** Locks until the end of the transaction. */
  lockApiKey(organizationId: string, id: string): Promise<void>
  /** Returns false if the key is unknown or revoked, here and below. */
  rotateApiKey(key: ApiKey, digest: StoredDigest): Promise<boolean>
  /** Returns false if the key is unknown or already revoked. */
  revokeApiKey(organizationId: string, id: string, atMs: number): Promise<boolean>

  insertAdminKey(key: AdminKey, digest: StoredDigest): Promise<void>
  listAdminKeys(organizationId: string, page: KeyPage): Promise<Paged<AdminKey>>
  findAdminKey(organizationId: string, id: string): Promise<AdminKey | undefined>
  updateAdminKey(key: AdminKey): Promise<boolean>
  /** Stores the new digest and redacted value. The digest before is accepted until `previousExpiresAtMs`, and no older one. */
  rotateAdminKey(key: AdminKey, digest: StoredDigest): Promise<boolean>
  revokeAdminKey(organizationId: string, id: string, atMs: number): Promise<boolean>
  /** Locks until the end of the transaction. */
  lockAdminKeys(organizationId: string): Promise<void>
  /**
   * Whether another valid key of the organization has the permission `*`. If this key neither expires nor is limited to
   * addresses, another one that does cannot replace it.
   */
  hasOtherOwner(key: OwnerRef, nowMs: number): Promise<boolean>
}
