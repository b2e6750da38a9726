import { Fault } from '../../base/fault.ts'
import type { AuditedDirectory } from './audited-directory.ts'
import type { Actor, WithAuditRecord } from '../mutations/audit-log.ts'
import type { AdminKey, Administrator, ApiKey, Organization } from './principal.ts'
import type { DirectoryStore } from './store.ts'

/** The operator runs the service and works on its machine. The audit log names them without a credential or a request. */
export const operatorActor = (organizationId: string): Actor => ({
  organizationId,
  kind: 'operator',
  credentialId: null,
  requestId: null,
})

/** The operator as an administrator of one organization, with every permission. */
export const operatorOf = (organization: Organization): Administrator => ({
  kind: 'operator',
  id: 'operator',
  organization,
  permissions: new Set(['*']),
  expiresAtMs: null,
  networks: null,
})

type OrganizationReads = Pick<DirectoryStore, 'findOrganization' | 'listOrganizations'>

/** The organization with this id; without an id, the only one that exists. */
export async function organizationNamed(reads: OrganizationReads, id: string | undefined): Promise<Organization> {
  if (id !== undefined) return existing(id, await reads.findOrganization(id))
  const [first, second] = (await reads.listOrganizations({ limit: 2, order: 'asc' })).items
  if (first === undefined) throw ambiguous('There is no organization yet: run gatehouse setup.')
  if (second !== undefined) throw ambiguous('There is more than one organization: name it with --org.')
  return first
}

export function existing(id: string, organization: Organization | undefined): Organization {
  if (organization) return organization
  throw new Fault('not_found', 'not_found', `There is no organization ${id}.`)
}

const ambiguous = (message: string): Fault => new Fault('validation', 'invalid_parameter', message)

/** Revokes a key of either kind. The operator may also revoke the last administrator key. */
export async function revokeAnyKey(
  directory: Pick<AuditedDirectory, 'revokeAdminKey' | 'revokeApiKey'>,
  store: DirectoryStore,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
): Promise<WithAuditRecord<ApiKey | AdminKey>> {
  if (id.startsWith('adk_')) return directory.revokeAdminKey(store, { organizationId, by: 'operator' }, id)
  const key = await store.findApiKey(organizationId, id)
  if (key) return directory.revokeApiKey(store, { organizationId, projectId: key.projectId, by: 'operator' }, id)
  throw new Fault('not_found', 'not_found', `There is no API key ${id}.`)
}
