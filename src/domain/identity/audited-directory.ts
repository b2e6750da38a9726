import { Fault } from '../../base/fault.ts'
import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import type { AdminKey, ApiKey, Project } from './principal.ts'
import type { Issued, NewAdminKey, NewApiKey, Directory, Revocation } from './directory.ts'
import type { DirectoryStore } from './store.ts'

export type AuditedDirectory = ReturnType<typeof createAuditedDirectory>

export type InProject = { readonly organizationId: string; readonly projectId: string }

/** The directory's operations, each with its audit record. */
export function createAuditedDirectory(directory: Directory) {
  return {
    async createProject(
      store: DirectoryStore,
      organizationId: string,
      name: string,
    ): Promise<WithAuditRecord<Project>> {
      const value = await directory.createProject(store, organizationId, name)
      return { value, record: projectRecord('project.created', value) }
    },

    async renameProject(store: DirectoryStore, at: InProject, name: string): Promise<WithAuditRecord<Project>> {
      const project = await findProject(store, at)
      if (project.name === name) return { value: project }
      const value = await directory.renameProject(store, { organizationId: at.organizationId, id: at.projectId }, name)
      return { value, record: projectRecord('project.updated', value) }
    },

    /** Idempotent: archiving an archived project changes nothing. */
    async archiveProject(store: DirectoryStore, at: InProject): Promise<WithAuditRecord<Project>> {
      const project = await findProject(store, at)
      if (project.archivedAtMs !== null) return { value: project }
      const value = await directory.archiveProject(store, at.organizationId, at.projectId)
      return { value, record: projectRecord('project.archived', value) }
    },

    /** Idempotent: unarchiving an active project changes nothing. */
    async unarchiveProject(store: DirectoryStore, at: InProject): Promise<WithAuditRecord<Project>> {
      const project = await findProject(store, at)
      if (project.archivedAtMs === null) return { value: project }
      const value = await directory.unarchiveProject(store, at.organizationId, at.projectId)
      return { value, record: projectRecord('project.unarchived', value) }
    },

    async createApiKey(
      store: DirectoryStore,
      at: InProject,
      input: NewApiKey,
    ): Promise<WithAuditRecord<Issued<ApiKey>>> {
      const project = await findProject(store, at)
      if (project.archivedAtMs !== null)
        throw new Fault('conflict', 'invalid_state', `The project ${project.id} is archived.`)
      const value = await directory.createApiKey(store, project, input)
      return { value, record: apiKeyRecord('api_key.created', value.key) }
    },

    async revokeApiKey(
      store: DirectoryStore,
      at: InProject & Revocation,
      id: string,
    ): Promise<WithAuditRecord<ApiKey>> {
      await findApiKey(store, at, id)
      const value = await directory.revokeApiKey(store, at, id)
      return { value, record: apiKeyRecord('api_key.revoked', value) }
    },

    async createAdminKey(
      store: DirectoryStore,
      organizationId: string,
      input: NewAdminKey,
    ): Promise<WithAuditRecord<Issued<AdminKey>>> {
      const value = await directory.createAdminKey(store, organizationId, input)
      return { value, record: adminKeyRecord('admin_api_key.created', value.key) }
    },

    async revokeAdminKey(
      store: DirectoryStore,
      revocation: Revocation,
      id: string,
    ): Promise<WithAuditRecord<AdminKey>> {
      await findAdminKey(store, revocation.organizationId, id)
      const value = await directory.revokeAdminKey(store, revocation, id)
      return { value, record: adminKeyRecord('admin_api_key.revoked', value) }
    },
  }
}

export async function findProject(store: DirectoryStore, { organizationId, projectId }: InProject): Promise<Project> {
  const project = await store.findProject(organizationId, projectId)
  if (!project) throw notFound('project', projectId)
  return project
}

export async function findApiKey(store: DirectoryStore, at: InProject, id: string): Promise<ApiKey> {
  await findProject(store, at)
  const key = await store.findApiKey(at.organizationId, id)
  if (!key || key.projectId !== at.projectId || key.revokedAtMs !== null) throw notFound('API key', id)
  return key
}

/** A revoked key is not found; only the audit log still shows it. */
export async function findAdminKey(store: DirectoryStore, organizationId: string, id: string): Promise<AdminKey> {
  const key = await store.findAdminKey(organizationId, id)
  if (!key || key.revokedAtMs !== null) throw notFound('administrator key', id)
  return key
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
