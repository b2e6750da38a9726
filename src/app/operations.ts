import { Fault } from '../base/fault.ts'
import type { Ids } from '../base/ids.ts'
import type { Administer } from '../domain/identity/administer.ts'
import type { Actor, Recorded } from '../domain/identity/audit-log.ts'
import type { EventMaker } from '../domain/audit/event-maker.ts'
import type { AuditReads } from '../domain/audit/log.ts'
import type { AuditTexts } from '../domain/audit/texts.ts'
import { isPermission, permissions } from '../domain/identity/permissions.ts'
import type { AdminKey, ApiKey, Organization, Project } from '../domain/identity/principal.ts'
import type { FirstThings, RecordedRegistry } from '../domain/identity/recorded-registry.ts'
import type { Issued, NewAdminKey, NewApiKey } from '../domain/identity/registry.ts'
import type { Paged, RegistryStore } from '../domain/identity/store.ts'

import { createAuditOperations, type AuditOperations } from './audit-operations.ts'

export type { AdminKey, ApiKey } from '../domain/identity/principal.ts'

/**
 * What the command line can do to a house, by name: run in the same process, or carried to a running server
 * through its control socket. Inputs and answers are plain JSON.
 */
export type Operations = AuditOperations & {
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

/** Left out where there is only one. */
type InOrganization = { readonly organization?: string }

export type SetupAnswer = FirstThings

export type OperationParts = {
  readonly registry: RecordedRegistry
  readonly ids: Ids
  readonly reads: { readonly registry: RegistryStore; readonly events: AuditReads }
  readonly administer: Administer<{ readonly registry: RegistryStore; readonly texts: AuditTexts }>
  readonly events: EventMaker
}

const everything = { limit: 1000, order: 'asc' } as const

export function createOperations(parts: OperationParts): Operations {
  const { registry, ids, administer, events } = parts
  const { registry: reads } = parts.reads
  return {
    ...createAuditOperations({ reads: parts.reads.events, events, administer, organizationOf, operatorOf }),
    async setup({ name }) {
      const id = ids('org')
      return administer(operatorOf(id), async ({ registry: store }) => {
        if (!(await store.claimInstallation(id))) throw alreadySetUp()
        return registry.setUp(store, { id, name })
      })
    },
    'orgs.list': async () => allOf(await reads.listOrganizations(everything)),
    'orgs.create'({ name }) {
      const id = ids('org')
      return administer(operatorOf(id), ({ registry: store }) => registry.createOrganization(store, { id, name }))
    },
    'projects.list': async (input) => allOf(await reads.listProjects(await organizationOf(input), everything)),
    'projects.create': (input) => inOrganization(input, (store, id) => registry.createProject(store, id, input.name)),
    'projects.archive': (input) =>
      inOrganization(input, (store, id) => registry.archiveProject(store, { organizationId: id, projectId: input.id })),
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
      const organizationId = await organizationOf(input)
      const project = { organizationId, projectId: input.project ?? (await onlyProject(organizationId)) }
      return administer(operatorOf(organizationId), ({ registry: store }) =>
        registry.createApiKey(store, project, withPermissions(input.key)),
      )
    },
    'keys.createAdmin': (input) =>
      inOrganization(input, (store, id) =>
        registry.createAdminKey(store, id, { permissions: ['*'], ...withPermissions(input.key) }),
      ),
    'keys.revoke': (input) =>
      inOrganization<ApiKey | AdminKey>(input, (store, id) =>
        input.id.startsWith('adk_')
          ? registry.revokeAdminKey(store, id, input.id)
          : registry.revokeAnyApiKey(store, id, input.id),
      ),
  }

  async function inOrganization<T>(
    input: InOrganization,
    work: (store: RegistryStore, organizationId: string) => Promise<Recorded<T>>,
  ): Promise<T> {
    const organizationId = await organizationOf(input)
    return administer(operatorOf(organizationId), ({ registry: store }) => work(store, organizationId))
  }

  async function organizationOf({ organization }: InOrganization): Promise<string> {
    if (organization !== undefined) return organization
    const all = allOf(await reads.listOrganizations({ limit: 2, order: 'asc' }))
    return only(all, {
      none: 'There is no organization yet: run gatehouse setup.',
      several: 'There is more than one organization: name it with --org.',
    })
  }

  async function onlyProject(organizationId: string): Promise<string> {
    const all = allOf(await reads.listProjects(organizationId, { limit: 1000, order: 'asc' })).filter(
      (project) => project.archivedAtMs === null,
    )
    return only(all, {
      none: 'There is no project yet: run gatehouse projects create.',
      several: 'There is more than one project: name it with --project.',
    })
  }
}

function withPermissions<K extends { readonly permissions?: readonly string[] }>(key: K) {
  const { permissions: spelled, ...rest } = key
  if (spelled === undefined) return rest
  const unknown = spelled.find((word) => !isPermission(word))
  if (unknown === undefined) return { ...rest, permissions: spelled.filter(isPermission) }
  const message = `${unknown} is no permission; there are: ${permissions.join(', ')}.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'permissions' })
}

/** Whoever can run commands on the machine: there is no key to name. */
const operatorOf = (organizationId: string): Actor => ({
  organizationId,
  kind: 'operator',
  credentialId: null,
  requestId: null,
})

const alreadySetUp = (): Fault =>
  new Fault(
    'conflict',
    'already_set_up',
    'An organization exists already; make further keys with: gatehouse keys create.',
  )

const allOf = <T>({ items }: Paged<T>): readonly T[] => items

function only(all: readonly { readonly id: string }[], words: { none: string; several: string }): string {
  const [first, second] = all
  if (first && !second) return first.id
  throw new Fault('validation', 'invalid_parameter', first ? words.several : words.none)
}
