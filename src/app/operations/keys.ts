import { toUnixSeconds } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { apiKeyPermissions, permissions, type KeyDefaults, type Permission } from '../../domain/identity/permissions.ts'
import type { AdminKey, ApiKey } from '../../domain/identity/principal.ts'
import { findProject, type AuditedDirectory } from '../../domain/identity/audited-directory.ts'
import type { NewAdminKey, NewApiKey } from '../../domain/identity/directory.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import { presentAdminKey } from '../../http/admin/admin-keys/present.ts'
import { presentApiKey } from '../../http/admin/api-keys/present.ts'
import {
  allIn,
  createInOrganization,
  everything,
  only,
  type MutationParts,
  type InOrganization,
} from './organization-of.ts'

/** What the command line can do to keys. Answers are in the words of the API. */
export type KeyOperations = {
  'keys.list'(
    input: InOrganization & { project?: string },
  ): Promise<{ api_keys: readonly ShownApiKey[]; admin_api_keys: readonly ShownAdminKey[] }>
  'keys.create'(input: InOrganization & { project?: string; key: Spelled<NewApiKey> }): Promise<Created<ShownApiKey>>
  'keys.createAdmin'(input: InOrganization & { key: Spelled<NewAdminKey> }): Promise<Created<ShownAdminKey>>
  'keys.revoke'(input: InOrganization & { id: string }): Promise<ShownApiKey | ShownAdminKey>
}

/** Who runs the service sees revoked keys too. */
type Shown<K> = K & { readonly revoked_at?: number }
export type ShownApiKey = Shown<ReturnType<typeof presentApiKey>>
export type ShownAdminKey = Shown<ReturnType<typeof presentAdminKey>>
/** `value` is the secret, shown this once. */
type Created<K> = K & { readonly value: string }

/** With permissions as somebody typed them. */
type Spelled<K> = Omit<K, 'permissions'> & { readonly permissions?: readonly string[] }

export type KeyOperationParts = MutationParts & {
  readonly reads: { readonly registry: DirectoryStore }
  readonly recorded: AuditedDirectory
  readonly keyDefaults: KeyDefaults
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
          ? allIn(await reads.listProjects(organizationId, everything))
          : [await findProject(reads, { organizationId, projectId: input.project })]
      const pages = await Promise.all(projects.map(({ id }) => reads.listApiKeys(organizationId, id, everything)))
      const adminKeys = input.project === undefined ? allIn(await reads.listAdminKeys(organizationId, everything)) : []
      return { api_keys: pages.flatMap(allIn).map(shownApiKey), admin_api_keys: adminKeys.map(shownAdminKey) }
    },
    async 'keys.create'(input) {
      const organization = await organizationOf(input)
      const projectId = input.project ?? (await onlyProject(organization))
      const { permissions: spelled, ...key } = input.key
      const granted = spelled ? permissionsOf(spelled, apiKeyPermissions) : parts.keyDefaults.permissions
      const issued = await inOrganization({ organization }, (store, organizationId) =>
        recorded.createApiKey(store, { organizationId, projectId }, { ...key, permissions: granted }),
      )
      return { ...shownApiKey(issued.key), value: issued.secret }
    },
    async 'keys.createAdmin'(input) {
      const { permissions: spelled = ['*'], ...key } = input.key
      if (spelled.length === 0) throw invalidPermissions('An administrator key has at least one permission.')
      const granted = permissionsOf(spelled, permissions)
      const issued = await inOrganization(input, (store, id) =>
        recorded.createAdminKey(store, id, { ...key, permissions: granted }),
      )
      return { ...shownAdminKey(issued.key), value: issued.secret }
    },
    async 'keys.revoke'(input) {
      const revoked = await inOrganization<ApiKey | AdminKey>(input, async (store, organizationId) => {
        if (input.id.startsWith('adk_')) {
          return recorded.revokeAdminKey(store, { organizationId, by: 'operator' }, input.id)
        }
        const projectId = (await store.findApiKey(organizationId, input.id))?.projectId
        if (projectId === undefined) throw noKey(input.id)
        return recorded.revokeApiKey(store, { organizationId, projectId }, input.id)
      })
      return 'projectId' in revoked ? shownApiKey(revoked) : shownAdminKey(revoked)
    },
  }

  async function onlyProject(organizationId: string): Promise<string> {
    const all = allIn(await reads.listProjects(organizationId, everything)).filter(
      (project) => project.archivedAtMs === null,
    )
    return only(all, {
      none: 'There is no project yet: run gatehouse projects create.',
      several: 'There is more than one project: name it with --project.',
    })
  }
}

const shownApiKey = (key: ApiKey): ShownApiKey => ({ ...presentApiKey(key), ...revocationOf(key) })
const shownAdminKey = (key: AdminKey): ShownAdminKey => ({ ...presentAdminKey(key), ...revocationOf(key) })
const revocationOf = ({ revokedAtMs }: ApiKey | AdminKey) =>
  revokedAtMs === null ? {} : { revoked_at: toUnixSeconds(revokedAtMs) }

const noKey = (id: string): Fault => new Fault('not_found', 'not_found', `There is no API key ${id}.`)

function permissionsOf(spelled: readonly string[], possible: readonly Permission[]): Permission[] {
  const isPossible = (word: string): word is Permission => possible.some((each) => each === word)
  const unknown = spelled.find((word) => !isPossible(word))
  if (unknown === undefined) return spelled.filter(isPossible)
  throw invalidPermissions(`${unknown} is no permission of such a key; there are: ${possible.join(', ')}.`)
}

const invalidPermissions = (message: string): Fault =>
  new Fault('validation', 'invalid_parameter', message, { param: 'permissions' })
