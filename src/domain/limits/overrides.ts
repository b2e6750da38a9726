import type { MaybePromise } from '../../base/maybe-promise.ts'
import { isFault } from '../../base/fault.ts'
import type { Principal } from '../identity/principal.ts'
import { metrics, type Limits, type Metric, type LimitScope, type ScopeLimits } from './scopes.ts'
import { limitsOf, tierOf, type TierTable } from './tiers.ts'

/** Limits set for one organization, project or key. */
export type LimitOverride = {
  readonly scope: LimitScope
  readonly subjectId: string
  readonly limits: Partial<ScopeLimits>
}

export type OverrideStore = {
  list(organizationId: string): Promise<readonly LimitOverride[]>
  /** An empty object restores the limits of the tier. */
  set(organizationId: string, override: LimitOverride): Promise<void>
}

type Subject = Pick<Principal, 'id' | 'projectId' | 'organization'>

export type LimitsOf = (principal: Subject) => MaybePromise<Limits>

export type LimitsOfParts = { readonly table: TierTable; readonly overrides: Pick<OverrideStore, 'list'> }

/** For how many subjects the latest limits are kept, for use during a database outage. */
const maxLatest = 20_000

/**
 * The limits of a principal, read once per principal object. After a change to its organization, authentication creates a
 * new object, so the limits are read again. During a database outage the latest known limits apply.
 */
export function createLimitsOf({ table, overrides }: LimitsOfParts): LimitsOf {
  const cache = new WeakMap<object, Limits>()
  const latest = new Map<string, Limits>()
  return (principal) => cache.get(principal) ?? lookUp(principal)

  async function lookUp(principal: Subject): Promise<Limits> {
    const name = `${principal.organization.id} ${principal.projectId} ${principal.id}`
    try {
      const limits = await read(principal)
      cache.set(principal, limits)
      latest.delete(name)
      latest.set(name, limits)
      if (latest.size > maxLatest) latest.delete(latest.keys().next().value ?? '')
      return limits
    } catch (error) {
      const before = isFault(error) && error.code === 'storage_unavailable' ? latest.get(name) : undefined
      if (before === undefined) throw error
      return before
    }
  }

  async function read({ organization, projectId, id }: Subject): Promise<Limits> {
    const set = await overrides.list(organization.id)
    const of = (scope: LimitScope, subjectId: string): Partial<ScopeLimits> =>
      set.find((one) => one.scope === scope && one.subjectId === subjectId)?.limits ?? {}
    return limitsOf(table[tierOf(organization)], {
      key: of('key', id),
      project: of('project', projectId),
      organization: of('organization', organization.id),
    })
  }
}

export const isMetric = (word: string): word is Metric => metrics.some((metric) => metric === word)
