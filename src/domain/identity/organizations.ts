import { Fault } from '../../base/fault.ts'
import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import type { Directory } from './directory.ts'
import { apiKeyPermissions } from './permissions.ts'
import type { Organization } from './principal.ts'
import type { DirectoryStore } from './store.ts'

export type OrganizationParts<Stores> = {
  readonly directory: Directory
  /** Credits of a new organization, which `grantStartingCredits` writes to the ledger in the same transaction. */
  readonly startingCredits: number
  readonly grantStartingCredits: (stores: Stores, organizationId: string) => Promise<void>
}

/** An organization that can be used at once. The three secrets exist only in this value. */
export type NewOrganization = {
  readonly organization: Organization
  readonly projectId: string
  readonly adminKey: string
  /** May read and change the policy gateway, so it is not for applications. */
  readonly apiKey: string
  /** Only calls models. */
  readonly applicationKey: string
}

type NamedOrganization = Pick<Organization, 'id' | 'name'>

export type Organizations<Stores extends { readonly directory: DirectoryStore }> = ReturnType<
  typeof createOrganizations<Stores>
>

/** Creates organizations, each inside its caller's transaction and with one audit record. */
export function createOrganizations<Stores extends { readonly directory: DirectoryStore }>(
  parts: OrganizationParts<Stores>,
) {
  const { directory, startingCredits, grantStartingCredits } = parts

  async function create(
    stores: Stores,
    named: NamedOrganization,
  ): Promise<WithAuditRecord<Organization> & { readonly record: AuditRecord }> {
    const value = await directory.createOrganization(stores.directory, named)
    if (startingCredits > 0) await grantStartingCredits(stores, named.id)
    const details = { name: named.name, credits: startingCredits }
    return { value, record: { kind: 'organization.created', resourceId: named.id, details } }
  }

  /** Creates an organization with a project, an administrator key, and API keys for the policy gateway and for applications. */
  async function createWithProject(
    stores: Stores,
    named: NamedOrganization,
  ): Promise<WithAuditRecord<NewOrganization>> {
    const { directory: store } = stores
    const { id } = named
    const { value: organization, record } = await create(stores, named)
    const project = await directory.createProject(store, id, 'Default project')
    const admin = await directory.createAdminKey(store, id, { name: 'First administrator key', permissions: ['*'] })
    const gateway = { name: 'First policy gateway key', permissions: apiKeyPermissions }
    const api = await directory.createApiKey(store, project, gateway)
    const application = await directory.createApiKey(store, project, { name: 'First application key', permissions: [] })
    const created = {
      project_id: project.id,
      admin_key_id: admin.key.id,
      api_key_id: api.key.id,
      application_key_id: application.key.id,
    }
    const secrets = { adminKey: admin.secret, apiKey: api.secret, applicationKey: application.secret }
    return {
      value: { organization, projectId: project.id, ...secrets },
      record: { ...record, details: { ...record.details, ...created } },
    }
  }

  return {
    create,
    createWithProject,

    /** Creates the first organization. Fails if the installation has an organization. */
    async setUp(stores: Stores, named: NamedOrganization): Promise<WithAuditRecord<NewOrganization>> {
      if (!(await stores.directory.claimInstallation(named.id))) throw alreadySetUp()
      return createWithProject(stores, named)
    },
  }
}

const alreadySetUp = (): Fault =>
  new Fault(
    'conflict',
    'already_set_up',
    'An organization exists already; make further keys with: gatehouse keys create.',
  )
