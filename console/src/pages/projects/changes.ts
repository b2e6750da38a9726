import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import type { components } from '../../api/schema.d.ts'
import { isApiError } from '../../api/error.ts'
import { hasBudget, keyBudgetBody, otherName, type KeyBudgetDraft } from './key-budget.ts'
import { isApiKey, type AnyKey, type IssuedKey, type Project } from './queries.ts'

type ApiKeyCreate = components['schemas']['ApiKeyCreate']
type AdminKeyCreate = components['schemas']['AdminApiKeyCreate']
type KeyUpdate = components['schemas']['ApiKeyUpdate'] & components['schemas']['AdminApiKeyUpdate']

export const projectsPath = '/v1/organization/projects'
export const budgetsPath = '/v1/organization/budgets'
export const adminKeysPath = '/v1/organization/admin_api_keys'
export const projectKeysPath = (projectId: string): string => `${projectsPath}/${projectId}/api_keys`

export const keyPath = (key: AnyKey): string =>
  isApiKey(key) ? `${projectKeysPath(key.project_id)}/${key.id}` : `${adminKeysPath}/${key.id}`

const keyLists = [['api_keys'], ['admin_api_keys'], ['names']]
const projectLists = [['projects'], ['api_keys'], ['names']]

export type NewKey = (
  | { readonly projectId: string; readonly body: ApiKeyCreate }
  | { readonly projectId: undefined; readonly body: AdminKeyCreate }
) & { readonly budget: KeyBudgetDraft }

type Budget = components['schemas']['Budget']

/** The budget of a new key, or why there is none: the key stays, and its secret is shown. */
export type KeyBudgetOutcome = { readonly budget: Budget } | { readonly error: unknown }

export type CreatedKey = { readonly issued: IssuedKey; readonly outcome: KeyBudgetOutcome | undefined }

export const useCreateKey = () =>
  useChange({
    refresh: [...keyLists, ['budgets']],
    async send(key: NewKey): Promise<CreatedKey> {
      const issued = await createKey(key)
      if (!hasBudget(key.budget)) return { issued, outcome: undefined }
      const outcome = await createBudget(key.budget, issued).then(
        (budget) => ({ budget }),
        (error: unknown) => ({ error }),
      )
      return { issued, outcome }
    },
  })

const createKey = ({ projectId, body }: NewKey): Promise<IssuedKey> =>
  projectId === undefined
    ? dataOf(api.POST('/v1/organization/admin_api_keys', { body }))
    : dataOf(
        api.POST('/v1/organization/projects/{project_id}/api_keys', {
          params: { path: { project_id: projectId } },
          body,
        }),
      )

async function createBudget(draft: KeyBudgetDraft, { id, name }: IssuedKey): Promise<Budget> {
  const send = (as: string): Promise<Budget> =>
    dataOf(api.POST('/v1/organization/budgets', { body: keyBudgetBody(draft, { id, name: as }) }))
  try {
    return await send(name)
  } catch (error) {
    if (!isApiError(error) || error.code !== 'duplicate_name') throw error
    return send(otherName(name, id))
  }
}

export const useUpdateKey = (key: AnyKey, onDone: () => void) =>
  useChange({
    refresh: keyLists,
    onDone,
    send: (body: KeyUpdate): Promise<unknown> =>
      isApiKey(key)
        ? api.PATCH('/v1/organization/projects/{project_id}/api_keys/{key_id}', { params: apiKeyAt(key), body })
        : api.PATCH('/v1/organization/admin_api_keys/{key_id}', { params: adminKeyAt(key), body }),
  })

export const useRotateKey = (key: AnyKey) =>
  useChange({
    refresh: keyLists,
    send: (body: components['schemas']['KeyRotation']): Promise<IssuedKey> =>
      isApiKey(key)
        ? dataOf(
            api.POST('/v1/organization/projects/{project_id}/api_keys/{key_id}/rotate', {
              params: apiKeyAt(key),
              body,
            }),
          )
        : dataOf(api.POST('/v1/organization/admin_api_keys/{key_id}/rotate', { params: adminKeyAt(key), body })),
  })

export const useRevokeKey = (key: AnyKey, onDone: () => void) =>
  useChange({
    refresh: keyLists,
    onDone,
    send: (): Promise<unknown> =>
      isApiKey(key)
        ? api.DELETE('/v1/organization/projects/{project_id}/api_keys/{key_id}', { params: apiKeyAt(key) })
        : api.DELETE('/v1/organization/admin_api_keys/{key_id}', { params: adminKeyAt(key) }),
  })

/** Creates a project, or renames the given one. */
export const useNameProject = (project: Project | undefined, onDone: () => void) =>
  useChange({
    refresh: projectLists,
    onDone,
    send: (name: string): Promise<unknown> =>
      project === undefined
        ? api.POST('/v1/organization/projects', { body: { name } })
        : api.PATCH('/v1/organization/projects/{project_id}', { params: projectAt(project), body: { name } }),
  })

export const useArchiveProject = (project: Project, onDone: () => void) =>
  useChange({
    refresh: projectLists,
    onDone,
    send: (action: 'archive' | 'unarchive'): Promise<unknown> =>
      action === 'archive'
        ? api.POST('/v1/organization/projects/{project_id}/archive', { params: projectAt(project) })
        : api.POST('/v1/organization/projects/{project_id}/unarchive', { params: projectAt(project) }),
  })

const apiKeyAt = ({ id, project_id }: Extract<AnyKey, { project_id: string }>) => ({ path: { project_id, key_id: id } })
const adminKeyAt = ({ id }: AnyKey) => ({ path: { key_id: id } })
const projectAt = ({ id }: Project) => ({ path: { project_id: id } })
