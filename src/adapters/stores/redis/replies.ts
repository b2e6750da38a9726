import type {
  AdmissionRequest,
  CreditAccount,
  CreditStatus,
  OpenHold,
  AdmissionResult,
} from '../../../domain/limits/admission.ts'
import { metrics, limitScopes, type ScopeLimits } from '../../../domain/limits/scopes.ts'
import { contributeResults, type ContributeResult, type GrantResult } from '../../../domain/limits/store.ts'
import { windowUsage, slotUsage, type ScopeStatus, type LimitStatus } from '../../../domain/limits/status.ts'

/** The reply does not have the expected form: the scripts and this file do not match. */
const unexpected = (what: string, reply: unknown): never => {
  throw new TypeError(`unexpected ${what} in a script's reply: ${JSON.stringify(reply)}`)
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : unexpected('value', value))
const text = (value: unknown): string => (typeof value === 'string' ? value : unexpected('text', value))
const number = (value: unknown): number => (typeof value === 'number' ? value : unexpected('number', value))

/** Numbers per scope in the reply: usage and reset of four windows, and requests in flight. */
const perScope = 9
const limitStatusFrom = 7

/** Decodes the reply of `admit.lua`. */
export function readAdmission(request: AdmissionRequest, epoch: string, reply: unknown): AdmissionResult | 'forgotten' {
  const answer = listOf(reply)
  const outcome = text(answer[0])
  if (outcome === 'forgotten') return outcome
  const atMs = number(answer[6])
  const limitStatus = readLimitStatus(request, answer.slice(limitStatusFrom).map(number))
  const credits = readCredits(request, epoch, answer)
  if (outcome === 'admitted' || outcome === 'duplicate') {
    return { admitted: true, duplicate: outcome === 'duplicate', limitStatus, atMs, credits }
  }
  if (outcome === 'credits') {
    return { admitted: false, reason: 'credits', scope: 'organization', retryAfterMs: null, limitStatus, atMs, credits }
  }
  const waitMs = number(answer[3])
  return {
    admitted: false,
    reason: metrics[number(answer[2]) - 1] ?? unexpected('metric', answer),
    scope: limitScopes[number(answer[1]) - 1] ?? unexpected('scope', answer),
    retryAfterMs: waitMs === -1 ? null : waitMs,
    limitStatus,
    atMs,
    credits,
  }
}

function readCredits(request: AdmissionRequest, epoch: string, answer: readonly unknown[]): CreditStatus | null {
  if (request.mode === 'count' || request.micro === null) return null
  return { epoch, sliceId: text(answer[4]) || null, leftMicro: number(answer[5]) }
}

const readLimitStatus = ({ limits }: AdmissionRequest, numbers: readonly number[]): LimitStatus => ({
  key: readScope(limits.key, numbers.slice(0, perScope)),
  project: readScope(limits.project, numbers.slice(perScope, 2 * perScope)),
  organization: readScope(limits.organization, numbers.slice(2 * perScope)),
})

function readScope(limit: ScopeLimits, numbers: readonly number[]): ScopeStatus {
  const [rpm = 0, rpmReset = 0, rpd = 0, rpdReset = 0, tpm = 0, tpmReset = 0, tpd = 0, tpdReset = 0, inFlight = 0] =
    numbers
  return {
    rpm: windowUsage(limit.rpm, rpm, rpmReset),
    rpd: windowUsage(limit.rpd, rpd, rpdReset),
    tpm: windowUsage(limit.tpm, tpm, tpmReset),
    tpd: windowUsage(limit.tpd, tpd, tpdReset),
    concurrent: slotUsage(limit.concurrent, inFlight),
  }
}

/** The reply of `register.lua`. */
export const readNodes = (reply: unknown): readonly string[] => listOf(reply).map(text)

/** The reply of `contribute.lua`. */
export function readContribution(reply: unknown): { readonly result: ContributeResult; readonly incarnation: string } {
  const [word, incarnation] = listOf(reply).map(text)
  const result = contributeResults.find((candidate) => candidate === word) ?? unexpected('result', reply)
  return { result, incarnation: incarnation ?? '' }
}

/** The reply of `grant.lua`. */
export const readGrantResult = (reply: unknown): GrantResult =>
  reply === 'granted' || reply === 'taken' || reply === 'stale' ? reply : unexpected('result', reply)

/** The reply of `accounts.lua`. */
export function readAccounts(organization: string, reply: unknown): readonly CreditAccount[] {
  const [slice, holds] = listOf(reply).map(listOf)
  const [epoch, sliceId, amount, left] = slice ?? []
  const openSlice =
    epoch === undefined
      ? null
      : {
          organization,
          epoch: text(epoch),
          sliceId: text(sliceId),
          amountMicro: Number(text(amount)),
          leftMicro: Number(text(left)),
        }
  const open = (holds ?? []).map((hold) => readHold(listOf(hold)))
  return openSlice === null && open.length === 0 ? [] : [{ slice: openSlice, holds: open }]
}

function readHold([requestId, project, key, tokens, micro, sliceId, overdue]: readonly unknown[]): OpenHold {
  const metered = number(micro) !== -1
  return {
    requestId: text(requestId),
    project: text(project),
    key: text(key),
    tokens: number(tokens),
    micro: metered ? number(micro) : null,
    sliceId: metered ? text(sliceId) : null,
    overdue: overdue === 1,
  }
}
