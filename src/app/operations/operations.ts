import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { Administer } from '../../domain/identity/administer.ts'
import type { AuditLogStore, Recorded } from '../../domain/identity/audit-log.ts'
import type { EventMaker } from '../../domain/audit/event-maker.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import type { AuditTexts } from '../../domain/audit/texts.ts'
import { isPermission, permissions } from '../../domain/identity/permissions.ts'
import type { AdminKey, ApiKey, Organization, Project } from '../../domain/identity/principal.ts'
import type { RecordedRegistry } from '../../domain/identity/recorded-registry.ts'
import type { Issued, NewAdminKey, NewApiKey, Registry } from '../../domain/identity/registry.ts'
import type { RegistryStore } from '../../domain/identity/store.ts'
import type { GrantStore, LedgerStore } from '../../domain/credits/ledger-store.ts'
import type { LedgerReports } from '../../domain/credits/reports.ts'
import { toMicro } from '../../domain/credits/shown.ts'
import type { OverrideStore } from '../../domain/limits/overrides.ts'
import { createAuditOperations, type AuditOperations } from './audit-operations.ts'
import {
  createBacktestOperations,
  type BacktestOperationParts,
  type BacktestOperations,
} from './backtest-operations.ts'
import { creditOperations, type CreditOperations } from './credit-operations.ts'
import { createGatewayOperations, type GatewayOperationParts, type GatewayOperations } from './gateway-operations.ts'
import { allOf, createOrganizationOf, only, operatorOf, type InOrganization } from './organization-of.ts'
import { createPolicyOperations, type PolicyOperationParts, type PolicyOperations } from './policy-operations.ts'

export type { AdminKey, ApiKey, Organization, Project } from '../../domain/identity/principal.ts'
export type { LedgerEntry } from '../../domain/credits/reports.ts'
export type { CreditBalance } from './credit-operations.ts'

/**
 * What the command line can do to a house, by name: run in the same process, or carried to a running server
 * through its control socket. Inputs and answers are plain JSON.
 */
export type Operations = PolicyOperations &
  GatewayOperations &
  BacktestOperations &
  CreditOperations &
  AuditOperations & {
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

type Stores = PolicyOperationParts['reads'] &
  GatewayOperationParts['reads'] &
  BacktestOperationParts['reads'] & {
    readonly registry: RegistryStore
    readonly audit: AuditLogStore
    readonly grants: GrantStore
    readonly overrides: OverrideStore
    readonly events: AuditReads
    readonly texts: AuditTexts
  }

export type OperationParts = {
  readonly ids: Ids
  readonly reads: Stores
  /** For what comes with a new organization, which is written down as one event. */
  readonly registry: Registry
  /** For everything afterwards: who changed it is written down. */
  readonly recorded: RecordedRegistry
  readonly policies: PolicyOperationParts['policies']
  readonly configurations: GatewayOperationParts['configurations']
  readonly backtests: BacktestOperationParts['backtests']
  readonly administer: Administer<Stores>
  readonly ledger: Pick<LedgerStore, 'balance'>
  readonly reports: LedgerReports
  readonly credits: CreditSettings
  /** Makes and checks events of the log. */
  readonly events: EventMaker
}

/** What a credit is worth, and how many a new organization is given. */
export type CreditSettings = { readonly credit_usd: number; readonly starting: number }

const everything = { limit: 1000, order: 'asc' } as const

export function createOperations(parts: OperationParts): Operations {
  const { registry, recorded, ids, administer, credits } = parts
  const reads = parts.reads.registry
  const organizationOf = createOrganizationOf(reads)
  return {
    ...createPolicyOperations({ ...parts, organizationOf }),
    ...createGatewayOperations({ ...parts, organizationOf }),
    ...createBacktestOperations({ ...parts, organizationOf }),
    ...createAuditOperations({
      reads: parts.reads.events,
      events: parts.events,
      administer,
      organizationOf,
      operatorOf,
    }),
    ...creditOperations({ ...parts, reads: { registry: reads }, organizationOf, creditUsd: credits.credit_usd }),
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
