import type { AuditReads } from '../audit/log.ts'
import type { AlsoAffected } from './explanation.ts'
import { passesAfter, recordedVerdict, withThreshold } from './recorded-verdict.ts'

/** Counts the other requests that a policy would have let through with another threshold. */
export type CountAffected = (change: ThresholdChange) => Promise<AlsoAffected>

export type ThresholdChange = {
  readonly organizationId: string
  readonly policyId: string
  readonly thresholdBasisPoints: number
  /** The request that is explained. */
  readonly exceptEventId: string
}

const weekMs = 7 * 24 * 60 * 60 * 1000
const pageSize = 100
const maxPages = 10

/** Reads the scores that the events of the last seven days record. No text is read, and no rule evaluated. */
export function createCountAffected(events: Pick<AuditReads, 'listRequests'>, nowMs: () => number): CountAffected {
  return async ({ organizationId, policyId, thresholdBasisPoints, exceptEventId }) => {
    const filter = { fromMs: nowMs() - weekMs, is: { policyId: [policyId], status: ['denied'] } }
    let after: string | undefined
    let requests = 0
    let checked = 0
    for (let page = 0; page < maxPages; page += 1) {
      const { items, hasMore, nextAfter } = await events.listRequests(organizationId, filter, {
        limit: pageSize,
        order: 'desc',
        ...(after !== undefined && { after }),
      })
      for (const { id, document } of items) {
        if (id === exceptEventId) continue
        const verdict = recordedVerdict(document, noRules)
        checked += 1
        if (passesAfter(verdict, withThreshold(verdict, policyId, thresholdBasisPoints))) requests += 1
      }
      after = nextAfter ?? items.at(-1)?.id
      if (!hasMore || after === undefined) return { requests, checked, isComplete: true }
    }
    return { requests, checked, isComplete: false }
  }
}

/** Names and configurations are not needed to count. */
const noRules = { policies: new Map<string, never>(), gateway: undefined }
