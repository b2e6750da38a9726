import type { Principal } from '../../domain/identity/principal.ts'
import { isMetric, unlimited, type Limits } from '../../domain/limits/scopes.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import { subjectOf } from './admission.ts'
import { overLimit } from './limit-faults.ts'

/** Admits a read of a caller, or throws. */
export type AdmitRead = (principal: Principal) => Promise<void>

export type ReadLimit = {
  /** Tells the counters of this kind of read apart from all others. */
  readonly name: string
  /** Reads a minute. */
  readonly perKey: number
  readonly perOrganization: number
}

/** Reads have limits of their own, and are counted separately from requests. */
export function createReadLimit(
  limits: Pick<LimitStore, 'admit'>,
  { name, perKey, perOrganization }: ReadLimit,
): AdmitRead {
  const own: Limits = {
    key: { ...unlimited, rpm: perKey },
    project: unlimited,
    organization: { ...unlimited, rpm: perOrganization },
  }
  return async (principal) => {
    const subject = { ...subjectOf(principal), organization: `${principal.organization.id}:${name}` }
    const result = await limits.admit({ ...subject, limits: own, mode: 'count' })
    if (!result.admitted && isMetric(result.reason)) throw overLimit(result, result.reason)
  }
}
