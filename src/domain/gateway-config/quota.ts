import { dayMs, hourMs, minuteMs } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { retryIn } from '../../base/plural.ts'
import type { GatewayConfiguration, Quota, QuotaWindow } from './configuration.ts'

/** Unix milliseconds; the end is exclusive. */
export type QuotaPeriod = { readonly startMs: number; readonly endMs: number }

/** A quota of a user or a project, and the window of a request. */
export type QuotaClaim = {
  readonly organizationId: string
  readonly subjectKind: 'user' | 'project'
  readonly subjectId: string
  readonly quota: Quota
  readonly window: QuotaPeriod
}

/** The fields of a request that quotas need. */
export type QuotaRequest = {
  readonly organizationId: string
  readonly projectId: string
  /** The user that the request names. Without one, no user quota applies. */
  readonly userId: string | undefined
  readonly config: GatewayConfiguration
  /** Of the configuration. */
  readonly version: number
  readonly inputTokens: number
  /** The maximum length of the answer that the request allows. */
  readonly outputTokens: number
  /** The shortest useful answer. The request is rejected if the quota has fewer tokens left. */
  readonly leastOutputTokens: number
}

/** The usage of a quota in its window. */
export type QuotaUse = {
  readonly requests: number
  /** Includes reservations. */
  readonly tokens: number
  /** The part of `tokens` that is reserved by requests in flight. */
  readonly reservedTokens: number
}

const weekMs = 7 * dayMs
/** Weeks start on Monday. The first Monday of Unix time is 5 January 1970. */
const firstMondayMs = 4 * dayMs

/** The calendar window in UTC that contains a time. */
export function windowAt(window: QuotaWindow, nowMs: number): QuotaPeriod {
  switch (window) {
    case 'minute':
      return fixedWindow(minuteMs, nowMs)
    case 'hour':
      return fixedWindow(hourMs, nowMs)
    case 'day':
      return fixedWindow(dayMs, nowMs)
    case 'week':
      return fixedWindow(weekMs, nowMs, firstMondayMs)
    case 'month': {
      const now = new Date(nowMs)
      const monthStart = (months: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)
      return { startMs: monthStart(0), endMs: monthStart(1) }
    }
  }
}

function fixedWindow(lengthMs: number, nowMs: number, originMs = 0): QuotaPeriod {
  const startMs = Math.floor((nowMs - originMs) / lengthMs) * lengthMs + originMs
  return { startMs, endMs: startMs + lengthMs }
}

/** The quotas that apply to a request: that of its user, then that of its project. */
export function claimsOf(request: QuotaRequest, nowMs: number): readonly QuotaClaim[] {
  const { organizationId, projectId, userId, config } = request
  const { user_quotas: isForUsers, user_quota: userQuota, project_quota: projectQuota } = config.org_controls
  const claim = (subjectKind: QuotaClaim['subjectKind'], subjectId: string, quota: Quota): QuotaClaim[] =>
    isLimiting(quota) ? [{ organizationId, subjectKind, subjectId, quota, window: windowAt(quota.window, nowMs) }] : []
  return [
    ...(isForUsers && userId !== undefined ? claim('user', userId, userQuota) : []),
    ...claim('project', projectId, projectQuota),
  ]
}

const isLimiting = ({ requests, tokens }: Quota): boolean => requests > 0 || tokens > 0

type Tokens = Pick<QuotaRequest, 'inputTokens' | 'leastOutputTokens'>

/** A request with fewer tokens left is rejected. */
const leastTokens = ({ inputTokens, leastOutputTokens }: Tokens): number => inputTokens + leastOutputTokens

/** The first exhausted claim, or the number of tokens that are left in all of them. */
export function remainingFor(
  request: Tokens,
  claims: readonly QuotaClaim[],
  uses: readonly QuotaUse[],
): { readonly full: QuotaShortage } | { readonly tokens: number } {
  const usages = claims.map((claim, at) => ({ claim, use: uses[at] ?? unused }))
  for (const { claim, use } of usages) {
    const { requests, tokens } = claim.quota
    if (requests > 0 && use.requests >= requests) return { full: { claim, isHeld: false } }
    const isShort = (used: number): boolean => tokens > 0 && used + leastTokens(request) > tokens
    if (isShort(use.tokens)) return { full: { claim, isHeld: !isShort(use.tokens - use.reservedTokens) } }
  }
  const left = usages.map(({ claim, use }) => (claim.quota.tokens === 0 ? Infinity : claim.quota.tokens - use.tokens))
  return { tokens: Math.min(...left) }
}

const unused: QuotaUse = { requests: 0, tokens: 0, reservedTokens: 0 }

/** An exhausted quota. `isHeld`: requests in flight have reserved tokens and will release what they do not use. */
export type QuotaShortage = { readonly claim: QuotaClaim; readonly isHeld: boolean }

/** `Retry-After` while requests in flight hold the tokens, because their end is not known. */
const heldSeconds = 5

export type QuotaRejection = {
  readonly nowMs: number
  /** The id of the audit event of the rejection. */
  readonly eventId: string
}

/** The error for a request over its quota. */
export function overQuota(shortage: QuotaShortage, request: QuotaRequest, { nowMs, eventId }: QuotaRejection): Fault {
  const { config, version } = request
  const { claim, isHeld } = shortage
  const { subjectKind, quota, window } = claim
  const untilEnd = Math.max(1, Math.ceil((window.endMs - nowMs) / 1000))
  const retryAfterSeconds = isHeld ? Math.min(heldSeconds, untilEnd) : untilEnd
  const neverFits = quota.tokens > 0 && leastTokens(request) > quota.tokens
  const text = messageOf(shortage, neverFits, request)
  return new Fault('rate_limit', 'rate_limit_exceeded', neverFits ? text : `${text} ${retryIn(retryAfterSeconds)}`, {
    retryAfterSeconds,
    ...(neverFits && { isPermanent: true }),
    policy: {
      decision: 'refuse',
      effective_decision: 'refuse',
      enforced: true,
      rollout_mode: 'enforced',
      reason_code: subjectKind === 'user' ? 'USER_QUOTA_EXCEEDED' : 'PROJECT_QUOTA_EXCEEDED',
      policy_id: config.policy_id,
      version,
      triggered_categories: [],
      event_id: eventId,
    },
  })
}

function messageOf(
  { claim: { subjectKind, quota }, isHeld }: QuotaShortage,
  neverFits: boolean,
  request: Tokens,
): string {
  const limits = [
    ...(quota.requests > 0 ? [`${quota.requests} requests`] : []),
    ...(quota.tokens > 0 ? [`${quota.tokens} tokens`] : []),
  ].join(' and ')
  const whole = `The quota of this ${subjectKind} is ${limits} per ${quota.window}`
  if (neverFits) {
    const { inputTokens, leastOutputTokens } = request
    return `${whole}, and this request needs at least ${inputTokens} tokens for its input and ${leastOutputTokens} for an answer. Shorten its input.`
  }
  if (isHeld) return `${whole}, and requests in flight have reserved the rest. They return what they do not use.`
  return `${whole}, and what is left does not suffice for this request until the ${quota.window} has ended.`
}
