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

export const readNumbers = (reply: unknown): readonly number[] => listOf(reply).map(number)

const verdicts = ['forgotten', 'admitted', 'duplicate', 'refused', 'credits', 'budget'] as const

/** The reply of `admit.lua`: three bytes, three numbers, nine numbers for each scope, and the slice. */
const numbersFrom = 3
const scopesFrom = numbersFrom + 3 * 8
const scopeBytes = 9 * 8
const sliceFrom = scopesFrom + 3 * scopeBytes

/** Decodes the reply of `admit.lua`. */
export function readAdmission(request: AdmissionRequest, epoch: string, reply: unknown): AdmissionResult | 'forgotten' {
  const answer = Buffer.isBuffer(reply) ? reply : unexpected('value', reply)
  const verdict = verdicts[answer[0] ?? -1] ?? unexpected('verdict', reply)
  if (verdict === 'forgotten') return verdict
  const decision = {
    limitStatus: readLimitStatus(request, answer),
    atMs: answer.readDoubleLE(numbersFrom + 16),
    credits: readCredits(request, epoch, answer),
  }
  if (verdict === 'admitted' || verdict === 'duplicate')
    return { admitted: true, duplicate: verdict === 'duplicate', ...decision }
  if (verdict === 'credits')
    return { admitted: false, reason: 'credits', scope: 'organization', retryAfterMs: null, ...decision }
  const waitMs = answer.readDoubleLE(numbersFrom)
  if (verdict === 'budget') {
    const budget = { index: (answer[2] ?? 0) - 1, used: waitMs === -1 ? null : waitMs, epoch }
    return { admitted: false, reason: 'budget', scope: 'organization', retryAfterMs: null, budget, ...decision }
  }
  return {
    admitted: false,
    reason: metrics[(answer[2] ?? 0) - 1] ?? unexpected('metric', reply),
    scope: limitScopes[(answer[1] ?? 0) - 1] ?? unexpected('scope', reply),
    retryAfterMs: waitMs === -1 ? null : waitMs,
    ...decision,
  }
}

function readCredits(request: AdmissionRequest, epoch: string, answer: Buffer): CreditStatus | null {
  if (request.mode === 'count' || request.micro === null) return null
  const sliceId = answer.toString('utf8', sliceFrom)
  return { epoch, sliceId: sliceId || null, leftMicro: answer.readDoubleLE(numbersFrom + 8) }
}

const readLimitStatus = ({ limits }: AdmissionRequest, answer: Buffer): LimitStatus => ({
  key: readScope(limits.key, answer, scopesFrom),
  project: readScope(limits.project, answer, scopesFrom + scopeBytes),
  organization: readScope(limits.organization, answer, scopesFrom + 2 * scopeBytes),
})

function readScope(limit: ScopeLimits, answer: Buffer, from: number): ScopeStatus {
  const at = (index: number): number => answer.readDoubleLE(from + index * 8)
  return {
    rpm: windowUsage(limit.rpm, at(0), at(1)),
    rpd: windowUsage(limit.rpd, at(2), at(3)),
    tpm: windowUsage(limit.tpm, at(4), at(5)),
    tpd: windowUsage(limit.tpd, at(6), at(7)),
    concurrent: slotUsage(limit.concurrent, at(8)),
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
