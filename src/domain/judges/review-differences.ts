import { dayMs, minuteMs, type Clock } from '../../base/clock.ts'
import type { Appeals, AppealStores } from '../appeals/appeals.ts'
import { disputedText } from '../appeals/case-of-appeal.ts'
import type { AuditReads } from '../audit/log.ts'
import type { AuditRecord } from '../mutations/audit-log.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import type { DifferenceReview, JudgeDifference, NotReviewed } from './counts.ts'

export type DifferenceReviewStore = {
  /** Returns false, and keeps nothing, if it was looked at before. */
  settle(difference: Pick<JudgeDifference, 'organizationId' | 'id'>, review: DifferenceReview): Promise<boolean>
  /** Differences since then that people review. */
  countReviewed(organizationId: string, sinceMs: number): Promise<number>
}

export type ReviewStores = Pick<AppealStores, 'appeals' | 'events'> & { readonly differences: DifferenceReviewStore }

export type ReviewDifferencesParts = {
  /** Differences of all organizations since then that were not looked at, the oldest first. */
  readonly findUnreviewed: (sinceMs: number, limit: number) => Promise<readonly JudgeDifference[]>
  /** With the texts of requests. */
  readonly events: Pick<AuditReads, 'findRequest'>
  readonly mutate: AuditedMutation<ReviewStores>
  readonly appeals: Pick<Appeals, 'openByJudges'>
  readonly clock: Pick<Clock, 'nowMs'>
}

const perStep = 100
/** Of an organization. More would only grow the queue of its reviewers. */
const maxPerDay = 20
/** The event of a request may be written later than the difference. */
const eventMs = 10 * minuteMs

/** Lets people decide about texts on which a shadow and the active judge differ. Of several nodes, one opens the review. */
export function createReviewDifferences({ findUnreviewed, events, mutate, appeals, clock }: ReviewDifferencesParts) {
  return async (): Promise<void> => {
    for (const difference of await findUnreviewed(clock.nowMs() - dayMs, perStep)) await review(difference)
  }

  async function review(difference: JudgeDifference): Promise<void> {
    const { organizationId, requestId, direction, atMs } = difference
    const event = await events.findRequest(organizationId, requestId)
    if (event === undefined) {
      if (clock.nowMs() - atMs >= eventMs) await settle(difference, 'no_event')
    } else if (disputedText(event, direction) === undefined) await settle(difference, 'no_text')
    else await open(difference, event.id)
  }

  async function settle(difference: JudgeDifference, notReviewed: NotReviewed): Promise<void> {
    await mutate(serviceOf(difference), async ({ differences }) => ({
      value: await differences.settle(difference, { notReviewed }),
    }))
  }

  async function open(difference: JudgeDifference, eventId: string): Promise<void> {
    const { organizationId, policyId, direction, activeScore, shadowScore } = difference
    // The scores are on both sides of the threshold.
    const claim = activeScore > shadowScore ? 'should_be_allowed' : 'should_be_denied'
    await mutate(serviceOf(difference), async (stores): Promise<{ value: void; record?: AuditRecord }> => {
      await stores.appeals.lock(organizationId)
      const isFull = (await stores.differences.countReviewed(organizationId, clock.nowMs() - dayMs)) >= maxPerDay
      if (isFull) {
        await stores.differences.settle(difference, { notReviewed: 'over_limit' })
        return { value: undefined }
      }
      const opened = await appeals.openByJudges(stores, { organizationId, eventId, policyId, direction, claim })
      const result = opened.value ? { appealId: opened.value.id } : ({ notReviewed: 'repeated' } as const)
      await stores.differences.settle(difference, result)
      return { value: undefined, ...(opened.record && { record: opened.record }) }
    })
  }
}

const serviceOf = ({ organizationId }: Pick<JudgeDifference, 'organizationId'>) =>
  ({ organizationId, kind: 'system', credentialId: null, requestId: null }) as const
