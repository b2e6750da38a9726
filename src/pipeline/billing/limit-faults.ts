import { Fault } from '../../base/fault.ts'
import { plural, retryIn } from '../../base/plural.ts'
import { displayedBalance, displayedUsage } from '../../domain/credits/formatting.ts'
import type { Rejected } from '../../domain/limits/admission.ts'
import { LimitedFault } from '../../domain/limits/limited-fault.ts'
import type { Metric, LimitScope } from '../../domain/limits/scopes.ts'

const metricNames: Readonly<Record<Metric, readonly [noun: string, period: string]>> = {
  rpm: ['request', 'a minute'],
  rpd: ['request', 'a day'],
  tpm: ['token', 'a minute'],
  tpd: ['token', 'a day'],
  concurrent: ['request', 'at once'],
}

const scopeNames: Readonly<Record<LimitScope, string>> = {
  key: 'This API key',
  project: 'This project',
  organization: 'This organization',
}

/** Names the limit that rejected the request, and when to retry. */
export function overLimit(rejected: Rejected, reason: Metric): Fault {
  const { scope, retryAfterMs, limitStatus } = rejected
  const limit = limitStatus[scope][reason]?.limit ?? 0
  const neverFits = retryAfterMs === null
  const [noun, period] = metricNames[reason]
  const retryAfterSeconds = waitMs(rejected, reason) / 1000
  const allowed = `${scopeNames[scope]} may have ${plural(limit, noun)} ${period}.`
  const message = neverFits ? `${allowed} This request needs more.` : `${allowed} ${retryIn(retryAfterSeconds)}`
  return new LimitedFault(
    {
      kind: 'rate_limit',
      code: 'rate_limit_exceeded',
      message,
      details: { retryAfterSeconds, ...(neverFits && { isPermanent: true }) },
    },
    limitStatus,
  )
}

/** A request larger than the limit itself is never admitted. Its wait is the time until the window is empty. */
const waitMs = ({ retryAfterMs, limitStatus, scope }: Rejected, reason: Metric): number =>
  retryAfterMs ?? (reason === 'concurrent' ? 0 : (limitStatus[scope][reason]?.resetMs ?? 0))

export type CreditShortage = {
  readonly neededMicro: number
  readonly remainingMicro: number
  readonly rejected: Rejected
}

/** Names no wait, because waiting does not help. */
export function insufficientCredits({ neededMicro, remainingMicro, rejected }: CreditShortage): Fault {
  const left = displayedBalance(remainingMicro)
  const short =
    remainingMicro < neededMicro
      ? `${left} ${left === 1 ? 'is' : 'are'} left`
      : `of the ${left} left, requests in flight hold too many`
  const message = `This request may cost ${plural(displayedUsage(neededMicro), 'credit')}; ${short}. Add credits with gatehouse credits grant, or request fewer output tokens.`
  return new LimitedFault({ kind: 'billing', code: 'insufficient_credits', message }, rejected.limitStatus)
}

/** The ledger cannot be read or written, so no paid request may start. */
export const creditsUnavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', 'credit_balance_unavailable', 'Credits cannot be charged right now.', {
    retryAfterSeconds: 5,
    cause,
  })
