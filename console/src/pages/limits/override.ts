import type { LimitOverride } from './queries.ts'

export const overridesPath = '/v1/organization/limits/overrides'

export type OverrideScope = LimitOverride['scope']
type Subject = { project_id?: string; api_key_id?: string }

/** How the API names an organization, a project or a key: the organization by naming none. */
export function subjectOf(scope: OverrideScope, id: string): Subject {
  if (scope === 'organization') return {}
  return scope === 'project' ? { project_id: id } : { api_key_id: id }
}

/** The command that sets limits; without any, it restores those of the tier. */
export function overrideCommand({ project_id: project, api_key_id: key }: Subject, limits: LimitOverride['limits']) {
  const options = { project, key, ...limits }
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${value}`]))
  return `gatehouse orgs set-limits${given.join('')}`
}
