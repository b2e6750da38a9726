import { Fault } from '../../base/fault.ts'
import { displayedBalance, displayedUsage } from '../../domain/credits/formatting.ts'
import type { Rejected } from '../../domain/limits/admission.ts'
import { LimitedFault } from '../../domain/limits/limited-fault.ts'
import type { Metric, LimitScope } from '../../domain/limits/scopes.ts'

const metricNames: Readonly<Record<Metric, string>> = {
  rpm: 'requests a minute',
  rpd: 'requests a day',
  tpm: 'tokens a minute',
  tpd: 'tokens a day',
  concurrent: 'requests at once',
}

const scopeNames: Readonly<Record<LimitScope, string>> = {
  key: 'This API key',
  project: 'This project',
  organization: 'This organization',
}

/** The limit that stood in the way, and when to come again. */
export function overLimit(refused: Rejected, reason: Metric): Fault {
  const { scope, retryAfterMs, limitStatus } = refused
  const limit = limitStatus[scope][reason]?.limit ?? 0
  const neverFits = retryAfterMs === null
  const message = `${scopeNames[scope]} may have ${limit} ${metricNames[reason]}.`
  return new LimitedFault(
    {
      kind: 'rate_limit',
      code: 'rate_limit_exceeded',
      message: neverFits ? `${message} This request asks for more.` : message,
      details: { retryAfterSeconds: waitMs(refused, reason) / 1000, ...(neverFits && { isPermanent: true }) },
    },
    limitStatus,
  )
}

/** A request larger than the limit itself never passes; its caller is told when the window is empty. */
const waitMs = ({ retryAfterMs, limitStatus, scope }: Rejected, reason: Metric): number =>
  retryAfterMs ?? (reason === 'concurrent' ? 0 : (limitStatus[scope][reason]?.resetMs ?? 0))

export type CreditShortage = {
  readonly neededMicro: number
  readonly remainingMicro: number
  readonly refused: Rejected
}

/** Waiting does not help, so that nothing says when to come again. */
export function insufficientCredits({ neededMicro, remainingMicro, refused }: CreditShortage): Fault {
  const left = displayedBalance(remainingMicro)
  const short =
    remainingMicro < neededMicro ? `${left} are left` : `of the ${left} left, requests under way hold too many`
  const message = `This request may cost ${displayedUsage(neededMicro)} credits; ${short}.`
  return new LimitedFault({ kind: 'billing', code: 'insufficient_credits', message }, refused.limitStatus)
}

/** The ledger cannot be asked, or cannot be written: nothing may be begun that would have to be paid for. */
export const creditsUnavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', 'credit_balance_unavailable', 'Credits cannot be charged right now.', {
    retryAfterSeconds: 5,
    cause,
  })
