import { apiPath } from '../../app/client/api-client.ts'
import { UsageError } from '../command.ts'
import { adminKeysPath, isActiveProject, isWorking } from './state.ts'
import type { Planning, ResourceKind, Step } from './step.ts'

type Deletion = {
  readonly kind: ResourceKind
  readonly verb: string
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly query?: { readonly revision: number }
  /** What else the deletion affects, for the plan. */
  readonly lines?: readonly string[]
}
type Candidate = { readonly id: string; readonly name?: string; readonly label?: string; readonly managed_by?: string }

/**
 * Deletes what the owner of the files manages and no file describes: policies, budgets, sinks, alerts, judges, models and upstreams are deleted, keys
 * are revoked, projects are archived. A resource comes after everything that refers to it. The gateway configuration stays.
 */
export function planDeletions({ resources, state }: Planning, steps: readonly Step[]): Step[] {
  const owner = resources.owner?.value
  if (owner === undefined) throw new UsageError('--prune: the files need an owner, which names what may be deleted.')
  if (!resources.isFolder)
    throw new UsageError('--prune: -f must be a folder, because other files of the owner can describe resources, too.')
  const described = new Set(steps.map(({ id }) => id))
  const deletions = <T extends Candidate>(candidates: readonly T[], deletionOf: (candidate: T) => Deletion): Step[] =>
    candidates
      .filter(({ id, managed_by: by }) => by === owner && !described.has(id))
      .map((candidate) => stepOf(candidate, deletionOf(candidate)))
  return [
    ...deletions(state.policies, ({ id, revision }) => ({
      kind: 'policy',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/policies/${id}`,
      query: { revision },
    })),
    ...deletions(state.budgets, ({ id }) => ({
      kind: 'budget',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/budgets/${id}`,
    })),
    ...deletions(state.alertRules, ({ id }) => ({
      kind: 'alert rule',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/alert_rules/${id}`,
    })),
    ...deletions(state.alertChannels, ({ id }) => ({
      kind: 'alert channel',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/alert_channels/${id}`,
    })),
    ...deletions(state.sinks, ({ id }) => ({
      kind: 'export sink',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/api/policy-gateway/exports/${id}`,
    })),
    ...deletions(state.judges, ({ id }) => ({
      kind: 'judge',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/judges/${id}`,
    })),
    ...deletions(state.models, ({ id }) => ({
      kind: 'model',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/models/${id}`,
    })),
    ...deletions(state.upstreams, ({ id }) => ({
      kind: 'upstream',
      verb: 'delete',
      method: 'DELETE',
      path: apiPath`/v1/organization/upstreams/${id}`,
    })),
    ...deletions(state.adminKeys, ({ id }) => ({
      kind: 'administrator key',
      verb: 'revoke',
      method: 'DELETE',
      path: `${adminKeysPath}/${id}`,
    })),
    ...deletions(state.apiKeys, ({ id, project_id: projectId }) => ({
      kind: 'API key',
      verb: 'revoke',
      method: 'DELETE',
      path: apiPath`/v1/organization/projects/${projectId}/api_keys/${id}`,
    })),
    ...deletions(state.projects.filter(isActiveProject), ({ id }) => ({
      kind: 'project',
      verb: 'archive',
      method: 'POST',
      path: apiPath`/v1/organization/projects/${id}/archive`,
      lines: state.apiKeys
        .filter((key) => key.project_id === id && key.managed_by !== owner && isWorking(key, state.nowMs))
        .map((key) => `API key ${key.name} (${key.id}) stops working`),
    })),
  ]
}

const stepOf = ({ id, name, label }: Candidate, { kind, verb, method, path, query, lines }: Deletion): Step => ({
  kind,
  name: name ?? label ?? '',
  id,
  action: 'delete',
  verb,
  differences: [],
  ...(lines && { lines }),
  run: async (client) => {
    await client.request(method, path, query ? { query } : {})
    return { id }
  },
})
