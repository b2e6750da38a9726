import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { GrantStore } from '../../domain/credits/ledger-store.ts'
import { toMicro } from '../../domain/credits/shown.ts'
import type { Administer } from '../../domain/identity/administer.ts'
import type { Recorded } from '../../domain/identity/audit-log.ts'
import { isPermission, permissions } from '../../domain/identity/permissions.ts'
import type { AdminKey, ApiKey, Organization, Project } from '../../domain/identity/principal.ts'
import type { RecordedRegistry } from '../../domain/identity/recorded-registry.ts'
import type { Issued, NewAdminKey, NewApiKey, Registry } from '../../domain/identity/registry.ts'
import type { RegistryStore } from '../../domain/identity/store.ts'
import { allOf, only, operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'

/** What commands can do to organizations, projects and keys. */
export type RegistryOperations = {
  setup(input: { name: string }): Promise<SetupAnswer>
  'orgs.list'(input: object): Promise<readonly Organization[]>
  'orgs.create'(input: { name: string }): Promise<Organization>
  'projects.list'(input: InOrganization): Promise<readonly Project[]>
  'projects.create'(input: InOrganization & { name: string }): Promise<Project>
  'projects.archive'(input: InOrganization & { id: string }): Promise<Project>
  'keys.list'(
    input: InOrganization & { project?: string },
  ): Promise<{ apiKeys: readonly ApiKey[]; adminKeys: readonly AdminKey[] }>
  'keys.create'(input: InOrganization & { project?: string; key: Spelled<NewApiKey> }): Promise<Issued<ApiKey>>
  'keys.createAdmin'(input: InOrganization & { key: Spelled<NewAdminKey> }): Promise<Issued<AdminKey>>
  'keys.revoke'(input: InOrganization & { id: string }): Promise<ApiKey | AdminKey>
}

/** With permissions as somebody typed them. */
type Spelled<K> = Omit<K, 'permissions'> & { readonly permissions?: readonly string[] }

export type SetupAnswer = {
  readonly organization_id: string
  readonly project_id: string
  readonly admin_key: string
  readonly api_key: string
}

type Stores = { readonly registry: RegistryStore; readonly grants: GrantStore }

export type RegistryOperationParts = {
  readonly ids: Ids
  readonly reads: Pick<Stores, 'registry'>
  /** For what comes with a new organization, which is written down as one event. */
  readonly registry: Registry
  /** For everything afterwards: who changed it is written down. */
  readonly recorded: RecordedRegistry
  readonly administer: Administer<Stores>
  /** How many credits a new organization is given. */
  readonly credits: { readonly starting: number }
  readonly organizationOf: OrganizationOf
}

const everything = { limit: 1000, order: 'asc' } as const

export function createRegistryOperations(parts: RegistryOperationParts): RegistryOperations {
  const { registry, recorded, ids, administer, credits, organizationOf } = parts
  const reads = parts.reads.registry
  return {
    async setup({ name }) {
      const id = ids('org')
      return administer(operatorOf(id), async (stores) => {
        const { registry: store } = stores
        if (!(await store.claimInstallation(id))) throw alreadySetUp()
        const { record } = await createOrganization(stores, { id, name })
        const project = await registry.createProject(store, id, 'Default project')
        const admin = await registry.createAdminKey(store, id, { name: 'First administrator key', permissions: ['*'] })
        const api = await registry.createApiKey(store, project, { name: 'First API key' })
        const made = { project_id: project.id, admin_key_id: admin.key.id, api_key_id: api.key.id }
        return {
          value: { organization_id: id, project_id: project.id, admin_key: admin.secret, api_key: api.secret },
          record: { ...record, details: { ...record.details, ...made } },
        }
      })
    },
    'orgs.list': async () => allOf(await reads.listOrganizations(everything)),
    'orgs.create'({ name }) {
      const id = ids('org')
      return administer(operatorOf(id), (stores) => createOrganization(stores, { id, name }))
    },
    'projects.list': async (input) => allOf(await reads.listProjects(await organizationOf(input), everything)),
    'projects.create': (input) => inOrganization(input, (store, id) => recorded.createProject(store, id, input.name)),
    'projects.archive': (input) =>
      inOrganization(input, (store, organizationId) =>
        recorded.archiveProject(store, { organizationId, projectId: input.id }),
      ),
    async 'keys.list'(input) {
      const organizationId = await organizationOf(input)
      const projects =
        input.project === undefined
          ? allOf(await reads.listProjects(organizationId, everything))
          : [{ id: input.project }]
      const pages = await Promise.all(projects.map(({ id }) => reads.listApiKeys(organizationId, id, everything)))
      const adminKeys = input.project === undefined ? allOf(await reads.listAdminKeys(organizationId, everything)) : []
      return { apiKeys: pages.flatMap(allOf), adminKeys }
    },
    async 'keys.create'(input) {
      const organization = await organizationOf(input)
      const projectId = input.project ?? (await onlyProject(organization))
      return inOrganization({ organization }, (store, organizationId) =>
        recorded.createApiKey(store, { organizationId, projectId }, withPermissions(input.key)),
      )
    },
    'keys.createAdmin': (input) =>
      inOrganization(input, (store, id) =>
        recorded.createAdminKey(store, id, { permissions: ['*'], ...withPermissions(input.key) }),
      ),
    'keys.revoke': (input) =>
      inOrganization<ApiKey | AdminKey>(input, async (store, organizationId) => {
        if (input.id.startsWith('adk_')) return recorded.revokeAdminKey(store, organizationId, input.id)
        const projectId = (await store.findApiKey(organizationId, input.id))?.projectId
        if (projectId === undefined) throw noKey(input.id)
        return recorded.revokeApiKey(store, { organizationId, projectId }, input.id)
      }),
  }

  async function createOrganization(
    { registry: store, grants }: Stores,
    named: Pick<Organization, 'id' | 'name'>,
  ): Promise<Required<Recorded<Organization>>> {
    const organization = await registry.createOrganization(store, named)
    const start = { organizationId: named.id, kind: 'grant', ref: 'start', note: 'starting credits' } as const
    if (credits.starting > 0) await grants.grant({ ...start, micro: toMicro(credits.starting) })
    const details = { name: named.name, credits: credits.starting }
    return { value: organization, record: { kind: 'organization.created', resourceId: named.id, details } }
  }

  async function inOrganization<T>(
    input: InOrganization,
    work: (store: RegistryStore, organizationId: string) => Promise<Recorded<T>>,
  ): Promise<T> {
    const organizationId = await organizationOf(input)
    return administer(operatorOf(organizationId), ({ registry: store }) => work(store, organizationId))
  }

  async function onlyProject(organizationId: string): Promise<string> {
    const all = allOf(await reads.listProjects(organizationId, everything)).filter(
      (project) => project.archivedAtMs === null,
    )
    return only(all, {
      none: 'There is no project yet: run gatehouse projects create.',
      several: 'There is more than one project: name it with --project.',
    })
  }
}

const noKey = (id: string): Fault => new Fault('not_found', 'not_found', `There is no API key ${id}.`)

function withPermissions<K extends { readonly permissions?: readonly string[] }>(key: K) {
  const { permissions: spelled, ...rest } = key
  if (spelled === undefined) return rest
  const unknown = spelled.find((word) => !isPermission(word))
  if (unknown === undefined) return { ...rest, permissions: spelled.filter(isPermission) }
  const message = `${unknown} is no permission; there are: ${permissions.join(', ')}.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'permissions' })
}

const alreadySetUp = (): Fault =>
  new Fault(
    'conflict',
    'already_set_up',
    'An organization exists already; make further keys with: gatehouse keys create.',
  )
