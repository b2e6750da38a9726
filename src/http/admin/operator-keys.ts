import Type from 'typebox'
import { text } from '../described.ts'
import { findProject, type AuditedDirectory } from '../../domain/identity/audited-directory.ts'
import { revokeAnyKey } from '../../domain/identity/operator.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import { idText, none } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import { presentAdminKey } from './admin-keys/present.ts'
import { presentApiKey } from './api-keys/present.ts'
import type { AdminRoutes } from './routes.ts'

const keysPath = '/operator/organization/keys'

const KeysQuery = Type.Object(
  { project_id: Type.Optional(idText('Only API keys of this project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')) },
  { additionalProperties: false },
)
const KeyParams = Type.Object({
  key_id: idText('An API key or an administrator key.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8'),
})
const AnyKey = Type.Object(
  { id: text('The id of the key.'), name: text('The purpose of the key.') },
  { title: 'AnyKey', additionalProperties: true },
)
const KeysAnswer = Type.Object(
  {
    api_keys: Type.Array(AnyKey, { description: 'The API keys.' }),
    admin_api_keys: Type.Array(AnyKey, { description: 'The administrator keys.' }),
  },
  { title: 'AllKeys' },
)

/** The command line shows the list on a terminal, so it is not paged further. */
const firstThousand = { limit: 1000, order: 'asc' } as const

/** What the operator may do with keys, and administrators may not. */
export function operatorKeyRoutes(
  { read, mutation }: AdminRoutes<{ readonly directory: DirectoryStore }>,
  auditedDirectory: AuditedDirectory,
): Route[] {
  return [
    read({
      name: 'listAllKeys',
      isManaged: true,
      path: keysPath,
      summary: 'List all keys, also revoked ones',
      permission: '*',
      params: none,
      query: KeysQuery,
      answer: { description: 'API keys and administrator keys, without their secrets.', schema: KeysAnswer },
      operation: ({ directory }, { actor, query: { project_id: projectId } }) =>
        listKeys(directory, actor.organization.id, projectId),
    }),
    mutation({
      name: 'revokeKey',
      method: 'DELETE',
      path: `${keysPath}/{key_id}`,
      summary: 'Revoke an API key or an administrator key, also the last one',
      permission: '*',
      params: KeyParams,
      query: none,
      body: none,
      answer: { description: 'The revoked key.', schema: AnyKey },
      operation: ({ directory: store }, { actor, params }) =>
        revokeAnyKey(auditedDirectory, store, { organizationId: actor.organization.id, id: params.key_id }),
      removes: ({ id }) => ({ id }),
      present: (key) => ('projectId' in key ? presentApiKey(key) : presentAdminKey(key)),
    }),
  ]
}

async function listKeys(directory: DirectoryStore, organizationId: string, projectId: string | undefined) {
  const projects =
    projectId === undefined
      ? (await directory.listProjects(organizationId, firstThousand)).items
      : [await findProject(directory, { organizationId, projectId })]
  const pages = await Promise.all(projects.map(({ id }) => directory.listApiKeys(organizationId, id, firstThousand)))
  const adminKeys = projectId === undefined ? (await directory.listAdminKeys(organizationId, firstThousand)).items : []
  return {
    api_keys: pages.flatMap(({ items }) => items).map(presentApiKey),
    admin_api_keys: adminKeys.map(presentAdminKey),
  }
}

/** The operator also sees revoked keys. */
type WithRevocation<Key> = Key & { readonly revoked_at?: number; readonly managed_by?: string }
export type ApiKeyBody = WithRevocation<ReturnType<typeof presentApiKey>>
export type AdminKeyBody = WithRevocation<ReturnType<typeof presentAdminKey>>
export type KeysBody = { readonly api_keys: readonly ApiKeyBody[]; readonly admin_api_keys: readonly AdminKeyBody[] }
/** `value` is the secret, which only the response to the creation contains. */
export type CreatedKeyBody = (ApiKeyBody | AdminKeyBody) & { readonly value: string }
