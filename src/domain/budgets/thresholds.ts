import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import type { Actor, AuditRecord } from '../mutations/audit-log.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import { displayedAmount } from './amount.ts'
import { amountAt, type Budget } from './budget.ts'
import { actionText } from './mutations.ts'
import { periodAt, type PeriodRange } from './period.ts'
import type { MemberSpent, ReadSpent } from './spent.ts'

/** Shares of one period of a budget that a member has reached. */
export type ReachedThreshold = {
  readonly organizationId: string
  readonly budgetId: string
  /** Null if all requests share the amount. */
  readonly member: string | null
  readonly periodStartMs: number
  readonly percent: number
}

/** What was reported of budgets, for good. */
export type ThresholdStore = {
  /** Keeps others from marking, and from deleting budgets of the organization, until the transaction ends. */
  lock(organizationId: string): Promise<void>
  /** True if it was not marked before. Of two nodes that do it together, one gets true. */
  mark(reached: ReachedThreshold, atMs: number): Promise<boolean>
  /** Forgets what was reported of periods before this one. */
  forgetBefore(period: Omit<ReachedThreshold, 'member' | 'percent'>): Promise<void>
  ofPeriod(period: Omit<ReachedThreshold, 'member' | 'percent'>): Promise<readonly ReachedThreshold[]>
}

export type ThresholdParts = {
  /** Active budgets of all organizations, those of an organization together. */
  readonly listActive: () => Promise<readonly Budget[]>
  readonly reported: Pick<ThresholdStore, 'ofPeriod'>
  readonly readSpent: ReadSpent
  readonly mutate: AuditedMutation<{ readonly thresholds: ThresholdStore }>
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
}

/** After a run that took long, the next ones do nothing until this many times its duration have passed. */
const restPerRun = 19

/** Members whose events are written in one transaction. */
const maxOfTransaction = 100

/**
 * Reports the thresholds that members have reached. A job calls it every few seconds, on each node: of several, the one that marks a
 * threshold writes its event. A budget whose figures cannot be read is left out, and the first error is thrown at the end.
 */
export function createReportThresholds(parts: ThresholdParts): () => Promise<void> {
  let restUntilMs = -Infinity
  return async () => {
    const startMs = parts.clock.monotonicMs()
    if (startMs < restUntilMs) return
    const errors: unknown[] = []
    for (const budget of await parts.listActive())
      if (budget.warnAt.length > 0) await reportBudget(parts, budget).catch((error: unknown) => errors.push(error))
    const endMs = parts.clock.monotonicMs()
    restUntilMs = endMs + restPerRun * (endMs - startMs)
    if (errors.length > 0) throw errors[0]
  }
}

async function reportBudget({ reported, readSpent, mutate, clock }: ThresholdParts, budget: Budget): Promise<void> {
  const nowMs = clock.nowMs()
  const period = periodAt(budget, nowMs)
  const ofPeriod = { organizationId: budget.organizationId, budgetId: budget.id, periodStartMs: period.startMs }
  const amount = amountAt(budget, period.startMs, nowMs)
  const reached = (await readSpent(budget, { startMs: period.startMs, nowMs }))
    .map((each) => ({ ...each, percents: budget.warnAt.filter((percent) => each.spent >= (amount * percent) / 100) }))
    .filter(({ percents }) => percents.length > 0)
  if (reached.length === 0) return
  const known = new Set((await reported.ofPeriod(ofPeriod)).map(({ member, percent }) => `${percent} ${member ?? ''}`))
  const unknown = reached.filter(({ member, percents }) =>
    percents.some((percent) => !known.has(`${percent} ${member ?? ''}`)),
  )
  for (let at = 0; at < unknown.length; at += maxOfTransaction)
    await mutate(service(budget.organizationId), async ({ thresholds }) => {
      await thresholds.lock(budget.organizationId)
      await thresholds.forgetBefore(ofPeriod)
      const further: AuditRecord[] = []
      for (const { percents, ...each } of unknown.slice(at, at + maxOfTransaction)) {
        const percent = await markAll(thresholds, { ...ofPeriod, member: each.member, percents, nowMs })
        if (percent !== undefined) further.push(recordOf(budget, period, { ...each, percent, amount }))
      }
      return { value: undefined, further }
    })
}

type Marking = Omit<ReachedThreshold, 'percent'> & { readonly percents: readonly number[]; readonly nowMs: number }

/** Marks all of them. Returns the highest if it was not marked before: the lower ones need no event of their own then. */
async function markAll(
  thresholds: ThresholdStore,
  { percents, nowMs, ...reached }: Marking,
): Promise<number | undefined> {
  const highest = Math.max(...percents)
  let isNew = false
  for (const percent of percents)
    if ((await thresholds.mark({ ...reached, percent }, nowMs)) && percent === highest) isNew = true
  return isNew ? highest : undefined
}

type Reached = MemberSpent & { readonly percent: number; readonly amount: number }

function recordOf(
  budget: Budget,
  { startMs, endMs }: PeriodRange,
  { member, percent, spent, amount }: Reached,
): AuditRecord {
  const { id, name, per, unit, period, action } = budget
  return {
    kind: 'budget.threshold_reached',
    resourceId: id,
    details: {
      name,
      per,
      member,
      percent,
      unit,
      spent: displayedAmount(unit, spent),
      amount: displayedAmount(unit, amount),
      period,
      period_start: toUnixSeconds(startMs),
      period_end: endMs === null ? null : toUnixSeconds(endMs),
      action: actionText(action),
    },
  }
}

const service = (organizationId: string): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})
