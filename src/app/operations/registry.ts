import { toUnixSeconds } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { GrantStore } from '../../domain/credits/ledger-store.ts'
import { toMicro } from '../../domain/credits/formatting.ts'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import type { WithAuditRecord } from '../../domain/identity/audit-log.ts'
import { apiKeyPermissions } from '../../domain/identity/permissions.ts'
import type { Organization } from '../../domain/identity/principal.ts'
import type { AuditedDirectory } from '../../domain/identity/audited-directory.ts'
import type { Directory } from '../../domain/identity/directory.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import { tierOf } from '../../domain/limits/tiers.ts'
import { presentProject } from '../../http/admin/projects/present.ts'
import {
  allIn,
  createInOrganization,
  everything,
  operatorOf,
  type InOrganization,
  type OrganizationOf,
} from './organization-of.ts'

/** What commands can do to organizations and projects. */
export type RegistryOperations = {
  setup(input: { name: string }): Promise<SetupAnswer>
  'orgs.list'(input: object): Promise<readonly ShownOrganization[]>
  'orgs.create'(input: { name: string }): Promise<ShownOrganization>
  'projects.list'(input: InOrganization): Promise<readonly ShownProject[]>
  'projects.create'(input: InOrganization & { name: string }): Promise<ShownProject>
  'projects.archive'(input: InOrganization & { id: string }): Promise<ShownProject>
}

export type ShownProject = ReturnType<typeof presentProject>
export type ShownOrganization = ReturnType<typeof presentOrganization>

export type SetupAnswer = {
  readonly organization_id: string
  readonly project_id: string
  readonly admin_key: string
  readonly api_key: string
}

type Stores = { readonly registry: DirectoryStore; readonly grants: GrantStore }

export type RegistryOperationParts = {
  readonly ids: Ids
  readonly reads: Pick<Stores, 'registry'>
  /** For what comes with a new organization, which is written down as one event. */
  readonly registry: Directory
  /** For everything afterwards: who changed it is written down. */
  readonly recorded: AuditedDirectory
  readonly administer: AuditedMutation<Stores>
  /** How many credits a new organization is given. */
  readonly credits: { readonly starting: number }
  readonly organizationOf: OrganizationOf
}

export function createRegistryOperations(parts: RegistryOperationParts): RegistryOperations {
  const { registry, recorded, ids, administer, credits, organizationOf } = parts
  const reads = parts.reads.registry
  const inOrganization = createInOrganization(parts)
  return {
    async setup({ name }) {
      const id = ids('org')
      return administer(operatorOf(id), async (stores) => {
        const { registry: store } = stores
        if (!(await store.claimInstallation(id))) throw alreadySetUp()
        const { record } = await createOrganization(stores, { id, name })
        const project = await registry.createProject(store, id, 'Default project')
        const admin = await registry.createAdminKey(store, id, { name: 'First administrator key', permissions: ['*'] })
        const api = await registry.createApiKey(store, project, {
          name: 'First API key',
          permissions: apiKeyPermissions,
        })
        const made = { project_id: project.id, admin_key_id: admin.key.id, api_key_id: api.key.id }
        return {
          value: { organization_id: id, project_id: project.id, admin_key: admin.secret, api_key: api.secret },
          record: { ...record, details: { ...record.details, ...made } },
        }
      })
    },
    'orgs.list': async () => allIn(await reads.listOrganizations(everything)).map(presentOrganization),
    async 'orgs.create'({ name }) {
      const id = ids('org')
      return presentOrganization(await administer(operatorOf(id), (stores) => createOrganization(stores, { id, name })))
    },
    'projects.list': async (input) =>
      allIn(await reads.listProjects(await organizationOf(input), everything)).map(presentProject),
    'projects.create': async (input) =>
      presentProject(await inOrganization(input, (store, id) => recorded.createProject(store, id, input.name))),
    'projects.archive': async (input) =>
      presentProject(
        await inOrganization(input, (store, organizationId) =>
          recorded.archiveProject(store, { organizationId, projectId: input.id }),
        ),
      ),
  }

  async function createOrganization(
    { registry: store, grants }: Stores,
    named: Pick<Organization, 'id' | 'name'>,
  ): Promise<Required<WithAuditRecord<Organization>>> {
    const organization = await registry.createOrganization(store, named)
    const start = { organizationId: named.id, kind: 'grant', ref: 'start', note: 'starting credits' } as const
    if (credits.starting > 0) await grants.grant({ ...start, micro: toMicro(credits.starting) })
    const details = { name: named.name, credits: credits.starting }
    return { value: organization, record: { kind: 'organization.created', resourceId: named.id, details } }
  }
}

const microUsdPerUsd = 1_000_000

/** An organization as the API would show it, if it showed other organizations. */
export const presentOrganization = (organization: Organization) => ({
  id: organization.id,
  object: 'organization' as const,
  name: organization.name,
  plan: organization.plan,
  tier: tierOf(organization),
  lifetime_paid_usd: organization.lifetimePaidMicroUsd / microUsdPerUsd,
  metered: organization.metered,
  created_at: toUnixSeconds(organization.createdAtMs),
})

const alreadySetUp = (): Fault =>
  new Fault(
    'conflict',
    'already_set_up',
    'An organization exists already; make further keys with: gatehouse keys create.',
  )
