import { Fault } from '../../base/fault.ts'
import type { AuditRecord, WithAuditRecord } from './audit-log.ts'
import { areWithin, networksOf, readAllowedIps, textOfNetwork, type Network } from './allowed-ips.ts'
import { holds, type Permission } from './permissions.ts'
import type { AdminKey, ApiKey, Project } from './principal.ts'
import type { Issued, NewAdminKey, NewApiKey, Directory, Revocation } from './directory.ts'
import type { DirectoryStore } from './store.ts'

export type AuditedDirectory = ReturnType<typeof createAuditedDirectory>

type InProject = { readonly organizationId: string; readonly projectId: string }

/** The registry's operations as administrators use them: each with the audit record that belongs to it. */
export function createAuditedDirectory(registry: Directory) {
  return {
    async createProject(
      store: DirectoryStore,
      organizationId: string,
      name: string,
    ): Promise<WithAuditRecord<Project>> {
      const value = await registry.createProject(store, organizationId, name)
      return { value, record: projectRecord('project.created', value) }
    },

    async renameProject(store: DirectoryStore, at: InProject, name: string): Promise<WithAuditRecord<Project>> {
      const project = await findProject(store, at)
      if (project.name === name) return { value: project }
      const value = await registry.renameProject(store, { organizationId: at.organizationId, id: at.projectId }, name)
      return { value, record: projectRecord('project.updated', value) }
    },

    /** Archiving twice is archiving once. */
    async archiveProject(store: DirectoryStore, at: InProject): Promise<WithAuditRecord<Project>> {
      const project = await findProject(store, at)
      if (project.archivedAtMs !== null) return { value: project }
      const value = await registry.archiveProject(store, at.organizationId, at.projectId)
      return { value, record: projectRecord('project.archived', value) }
    },

    async createApiKey(
      store: DirectoryStore,
      at: InProject,
      input: NewApiKey,
    ): Promise<WithAuditRecord<Issued<ApiKey>>> {
      const project = await findProject(store, at)
      if (project.archivedAtMs !== null)
        throw new Fault('conflict', 'invalid_state', `The project ${project.id} is archived.`)
      const value = await registry.createApiKey(store, project, input)
      return { value, record: apiKeyRecord('api_key.created', value.key) }
    },

    async revokeApiKey(store: DirectoryStore, at: InProject, id: string): Promise<WithAuditRecord<ApiKey>> {
      await findProject(store, at)
      const key = await store.findApiKey(at.organizationId, id)
      if (!key || key.projectId !== at.projectId || key.revokedAtMs !== null) throw notFound('API key', id)
      const value = await registry.revokeApiKey(store, at.organizationId, id)
      return { value, record: apiKeyRecord('api_key.revoked', value) }
    },

    async createAdminKey(
      store: DirectoryStore,
      organizationId: string,
      input: NewAdminKey,
    ): Promise<WithAuditRecord<Issued<AdminKey>>> {
      const value = await registry.createAdminKey(store, organizationId, input)
      return { value, record: adminKeyRecord('admin_api_key.created', value.key) }
    },

    async revokeAdminKey(
      store: DirectoryStore,
      revocation: Revocation,
      id: string,
    ): Promise<WithAuditRecord<AdminKey>> {
      await findAdminKey(store, revocation.organizationId, id)
      const value = await registry.revokeAdminKey(store, revocation, id)
      return { value, record: adminKeyRecord('admin_api_key.revoked', value) }
    },
  }
}

export async function findProject(store: DirectoryStore, { organizationId, projectId }: InProject): Promise<Project> {
  const project = await store.findProject(organizationId, projectId)
  if (!project) throw notFound('project', projectId)
  return project
}

/** A revoked key is gone: only the audit log still knows it. */
export async function findAdminKey(store: DirectoryStore, organizationId: string, id: string): Promise<AdminKey> {
  const key = await store.findAdminKey(organizationId, id)
  if (!key || key.revokedAtMs !== null) throw notFound('administrator key', id)
  return key
}

/** Nobody hands out more than they hold: a key that may only make keys cannot make itself an owner. */
export function requireHeld(held: ReadonlySet<Permission>, granted: readonly Permission[]): void {
  const beyond = granted.find((permission) => !holds(held, permission))
  if (beyond === undefined) return
  const message = `This credential lacks the permission ${beyond} and cannot grant it.`
  throw new Fault('permission', 'permission_denied', message, { param: 'permissions' })
}

/** Nor does a key create one that outlives it: left out, the new key ends with its creator. */
export function heldExpiry(creator: number | null, askedMs: number | null | undefined): number | null {
  if (askedMs === undefined) return creator
  if (creator === null || (askedMs !== null && askedMs <= creator)) return askedMs
  const message = 'This credential expires before the key that it would create; name an expires_at that is no later.'
  throw new Fault('permission', 'permission_denied', message, { param: 'expires_at' })
}

/** Nor one that works from addresses where it does not work itself: left out, the new key has its creator's list. */
export function heldIps(
  creator: readonly Network[] | null,
  asked: readonly string[] | null | undefined,
): string[] | null {
  if (asked === undefined) return creator && creator.map(textOfNetwork)
  const list = asked && readAllowedIps(asked)
  if (creator === null || (list !== null && areWithin(networksOf(list), creator))) return list
  const message = 'This credential works from some addresses only; name allowed_ips that lie within its own.'
  throw new Fault('permission', 'permission_denied', message, { param: 'allowed_ips' })
}

const projectRecord = (kind: AuditRecord['kind'], { id, name }: Project): AuditRecord => ({
  kind,
  resourceId: id,
  projectId: id,
  details: { name },
})

const adminKeyRecord = (
  kind: AuditRecord['kind'],
  { id, name, redactedValue, permissions, allowedIps }: AdminKey,
): AuditRecord => ({
  kind,
  resourceId: id,
  details: { name, redacted_value: redactedValue, permissions, ...(allowedIps && { allowed_ips: allowedIps }) },
})

const apiKeyRecord = (kind: AuditRecord['kind'], { projectId, ...key }: ApiKey): AuditRecord => ({
  ...adminKeyRecord(kind, key),
  projectId,
})

const notFound = (what: string, id: string): Fault => new Fault('not_found', 'not_found', `There is no ${what} ${id}.`)
