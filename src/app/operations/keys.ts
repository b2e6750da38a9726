import { Fault } from '../../base/fault.ts'
import { apiKeyPermissions, permissions, type Permission } from '../../domain/identity/permissions.ts'
import type { AdminKey, ApiKey } from '../../domain/identity/principal.ts'
import { findProject, type RecordedRegistry } from '../../domain/identity/recorded-registry.ts'
import type { Issued, NewAdminKey, NewApiKey } from '../../domain/identity/registry.ts'
import type { RegistryStore } from '../../domain/identity/store.ts'
import {
  allOf,
  createInOrganization,
  everything,
  only,
  type ChangeParts,
  type InOrganization,
} from './organization-of.ts'

/** What the command line can do to keys. */
export type KeyOperations = {
  'keys.list'(
    input: InOrganization & { project?: string },
  ): Promise<{ apiKeys: readonly ApiKey[]; adminKeys: readonly AdminKey[] }>
  'keys.create'(input: InOrganization & { project?: string; key: Spelled<NewApiKey> }): Promise<Issued<ApiKey>>
  'keys.createAdmin'(input: InOrganization & { key: Spelled<NewAdminKey> }): Promise<Issued<AdminKey>>
  'keys.revoke'(input: InOrganization & { id: string }): Promise<ApiKey | AdminKey>
}

/** With permissions as somebody typed them. */
type Spelled<K> = Omit<K, 'permissions'> & { readonly permissions?: readonly string[] }

export type KeyOperationParts = ChangeParts & {
  readonly reads: { readonly registry: RegistryStore }
  readonly recorded: RecordedRegistry
}

export function createKeyOperations(parts: KeyOperationParts): KeyOperations {
  const { recorded, organizationOf } = parts
  const reads = parts.reads.registry
  const inOrganization = createInOrganization(parts)
  return {
    async 'keys.list'(input) {
      const organizationId = await organizationOf(input)
      const projects =
        input.project === undefined
          ? allOf(await reads.listProjects(organizationId, everything))
          : [await findProject(reads, { organizationId, projectId: input.project })]
      const pages = await Promise.all(projects.map(({ id }) => reads.listApiKeys(organizationId, id, everything)))
      const adminKeys = input.project === undefined ? allOf(await reads.listAdminKeys(organizationId, everything)) : []
      return { apiKeys: pages.flatMap(allOf), adminKeys }
    },
    async 'keys.create'(input) {
      const organization = await organizationOf(input)
      const projectId = input.project ?? (await onlyProject(organization))
      const { permissions: spelled, ...key } = input.key
      const granted = spelled && { permissions: permissionsOf(spelled, apiKeyPermissions) }
      return inOrganization({ organization }, (store, organizationId) =>
        recorded.createApiKey(store, { organizationId, projectId }, { ...key, ...granted }),
      )
    },
    async 'keys.createAdmin'(input) {
      const { permissions: spelled = ['*'], ...key } = input.key
      if (spelled.length === 0) throw invalidPermissions('An administrator key has at least one permission.')
      const granted = permissionsOf(spelled, permissions)
      return inOrganization(input, (store, id) => recorded.createAdminKey(store, id, { ...key, permissions: granted }))
    },
    'keys.revoke': (input) =>
      inOrganization<ApiKey | AdminKey>(input, async (store, organizationId) => {
        if (input.id.startsWith('adk_')) return recorded.revokeAdminKey(store, organizationId, input.id)
        const projectId = (await store.findApiKey(organizationId, input.id))?.projectId
        if (projectId === undefined) throw noKey(input.id)
        return recorded.revokeApiKey(store, { organizationId, projectId }, input.id)
      }),
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

function permissionsOf(spelled: readonly string[], possible: readonly Permission[]): Permission[] {
  const isPossible = (word: string): word is Permission => possible.some((each) => each === word)
  const unknown = spelled.find((word) => !isPossible(word))
  if (unknown === undefined) return spelled.filter(isPossible)
  throw invalidPermissions(`${unknown} is no permission of such a key; there are: ${possible.join(', ')}.`)
}

const invalidPermissions = (message: string): Fault =>
  new Fault('validation', 'invalid_parameter', message, { param: 'permissions' })
