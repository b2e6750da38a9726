import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { Random } from '../../base/random.ts'
import { readAllowedIps } from './allowed-ips.ts'
import { requireExpiry, requireName } from './bounds.ts'
import type { KeyDigests } from './key-digests.ts'
import { mintSecret, redactSecret, type KeyKind } from './key-format.ts'
import { requireOwnerLeft, requirePermissionsOf } from './key-authority.ts'
import type { Permission } from './permissions.ts'
import type { AdminKey, ApiKey, Organization, Project } from './principal.ts'
import type { DirectoryStore } from './store.ts'

export type DirectoryParts = {
  readonly ids: Ids
  readonly clock: Clock
  readonly random: Random
  readonly digests: Pick<KeyDigests, 'current'>
}

export type NewApiKey = {
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly models?: readonly string[] | null
  readonly expiresAtMs?: number | null
  readonly allowedIps?: readonly string[] | null
}

export type NewAdminKey = {
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly expiresAtMs?: number | null
  readonly allowedIps?: readonly string[] | null
}

/** A project and its organization. */
export type ProjectRef = Pick<Project, 'id' | 'organizationId'>

/** The organization of the key, and the permissions of the caller. An operator on the machine may do everything. */
export type Revocation = {
  readonly organizationId: string
  readonly by: ReadonlySet<Permission> | 'operator'
}

/** The secret is returned once and never stored. */
export type Issued<K> = { readonly key: K; readonly secret: string }

export type Directory = ReturnType<typeof createDirectory>

/** Creates, renames, archives and revokes organizations, projects and keys. Each operation runs in its caller's transaction. */
export function createDirectory({ ids, clock, random, digests }: DirectoryParts) {
  return {
    async createOrganization(
      store: DirectoryStore,
      { id, name }: Pick<Organization, 'id' | 'name'>,
    ): Promise<Organization> {
      requireName(name)
      const organization: Organization = {
        id,
        name,
        plan: 'free',
        lifetimePaidMicroUsd: 0,
        metered: true,
        createdAtMs: clock.nowMs(),
      }
      await store.insertOrganization(organization)
      return organization
    },

    async createProject(store: DirectoryStore, organizationId: string, name: string): Promise<Project> {
      requireName(name)
      const project: Project = { id: ids('proj'), organizationId, name, createdAtMs: clock.nowMs(), archivedAtMs: null }
      await store.insertProject(project)
      return project
    },

    async renameProject(store: DirectoryStore, project: ProjectRef, name: string): Promise<Project> {
      requireName(name)
      const { organizationId, id } = project
      if (!(await store.renameProject(organizationId, id, name))) throw notFound('project', id)
      return required('project', id, await store.findProject(organizationId, id))
    },

    /** Also invalidates every key of the project. Idempotent. */
    async archiveProject(store: DirectoryStore, organizationId: string, id: string): Promise<Project> {
      if (!(await store.archiveProject(organizationId, id, clock.nowMs()))) throw notFound('project', id)
      return required('project', id, await store.findProject(organizationId, id))
    },

    /** The keys of the project that are not revoked work again. Idempotent. */
    async unarchiveProject(store: DirectoryStore, organizationId: string, id: string): Promise<Project> {
      if (!(await store.unarchiveProject(organizationId, id))) throw notFound('project', id)
      return required('project', id, await store.findProject(organizationId, id))
    },

    async createApiKey(store: DirectoryStore, project: ProjectRef, input: NewApiKey): Promise<Issued<ApiKey>> {
      const { organizationId } = project
      const current = required('project', project.id, await store.findProject(organizationId, project.id))
      if (current.archivedAtMs !== null) throw notFound('project', project.id)
      const issued = issue('ak', 'key', input)
      const key: ApiKey = {
        ...issued.record,
        organizationId,
        projectId: current.id,
        name: input.name,
        permissions: input.permissions,
        models: input.models ?? null,
      }
      await store.insertApiKey(key, issued.digest)
      return { key, secret: issued.secret }
    },

    async revokeApiKey(store: DirectoryStore, { organizationId, by }: Revocation, id: string): Promise<ApiKey> {
      await store.lockApiKey(organizationId, id)
      const key = required('API key', id, await store.findApiKey(organizationId, id))
      if (by !== 'operator') requirePermissionsOf(by, key, 'revoke')
      if (!(await store.revokeApiKey(organizationId, id, clock.nowMs()))) throw notFound('API key', id)
      return required('API key', id, await store.findApiKey(organizationId, id))
    },

    async createAdminKey(store: DirectoryStore, organizationId: string, input: NewAdminKey): Promise<Issued<AdminKey>> {
      required('organization', organizationId, await store.findOrganization(organizationId))
      const issued = issue('adm', 'adk', input)
      const key: AdminKey = { ...issued.record, organizationId, name: input.name, permissions: input.permissions }
      await store.insertAdminKey(key, issued.digest)
      return { key, secret: issued.secret }
    },

    /** Serialised per organization, so that of two keys that revoke each other one remains. */
    async revokeAdminKey(store: DirectoryStore, { organizationId, by }: Revocation, id: string): Promise<AdminKey> {
      await store.lockAdminKeys(organizationId)
      const key = required('administrator key', id, await store.findAdminKey(organizationId, id))
      if (by !== 'operator') {
        requirePermissionsOf(by, key, 'revoke')
        await requireOwnerLeft(store, key, clock.nowMs())
      }
      if (!(await store.revokeAdminKey(organizationId, id, clock.nowMs()))) throw notFound('administrator key', id)
      return required('administrator key', id, await store.findAdminKey(organizationId, id))
    },
  }

  function issue(kind: KeyKind, idPrefix: string, { name, expiresAtMs, allowedIps }: NewAdminKey) {
    requireName(name)
    requireExpiry(expiresAtMs, clock.nowMs())
    const secret = mintSecret(kind, random)
    const record = {
      id: ids(idPrefix),
      redactedValue: redactSecret(secret),
      createdAtMs: clock.nowMs(),
      expiresAtMs: expiresAtMs ?? null,
      allowedIps: allowedIps ? readAllowedIps(allowedIps) : null,
      revokedAtMs: null,
      lastUsedAtMs: null,
      previousExpiresAtMs: null,
    }
    return { secret, digest: digests.current(secret), record }
  }
}

function required<T>(what: string, id: string, value: T | undefined): T {
  if (value === undefined) throw notFound(what, id)
  return value
}

/** The message is the same for an unknown id and for one of another organization. */
const notFound = (what: string, id: string): Fault => new Fault('not_found', 'not_found', `There is no ${what} ${id}.`)
