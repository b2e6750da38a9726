import { dayMs, hourMs, minuteMs } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { GatewayConfiguration, Quota, QuotaWindow } from './configuration.ts'

/** From its start up to its end, Unix milliseconds. */
export type QuotaPeriod = { readonly startMs: number; readonly endMs: number }

/** Whose quota it is, and the window that a request falls into. */
export type QuotaClaim = {
  readonly organizationId: string
  readonly subjectKind: 'user' | 'project'
  readonly subjectId: string
  readonly quota: Quota
  readonly window: QuotaPeriod
}

/** A request as far as quotas look at it. */
export type QuotaRequest = {
  readonly organizationId: string
  readonly projectId: string
  /** As the caller names them; a request that names nobody has no user's quota to keep to. */
  readonly userId: string | undefined
  readonly config: GatewayConfiguration
  /** Of the configuration. */
  readonly version: number
  readonly inputTokens: number
  /** The longest answer that it asks for. */
  readonly outputTokens: number
  /** The shortest answer that is worth its price: a quota with less left refuses the request. */
  readonly leastOutputTokens: number
}

/** What was used of a quota in its window. */
export type QuotaUse = {
  readonly requests: number
  /** Reservations included. */
  readonly tokens: number
  /** The part of `tokens` that requests under way hold. */
  readonly reservedTokens: number
}

const weekMs = 7 * dayMs
/** Weeks begin on Monday; the first one that Unix time knows began on 5 January 1970. */
const firstMondayMs = 4 * dayMs

/** The calendar window, in UTC, that a moment falls into. */
export function windowAt(window: QuotaWindow, nowMs: number): QuotaPeriod {
  switch (window) {
    case 'minute':
      return stretch(minuteMs, nowMs)
    case 'hour':
      return stretch(hourMs, nowMs)
    case 'day':
      return stretch(dayMs, nowMs)
    case 'week':
      return stretch(weekMs, nowMs, firstMondayMs)
    case 'month': {
      const now = new Date(nowMs)
      const monthStart = (months: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)
      return { startMs: monthStart(0), endMs: monthStart(1) }
    }
  }
}

function stretch(lengthMs: number, nowMs: number, originMs = 0): QuotaPeriod {
  const startMs = Math.floor((nowMs - originMs) / lengthMs) * lengthMs + originMs
  return { startMs, endMs: startMs + lengthMs }
}

/** Every quota that a request has to keep to: that of its user, then that of its project. */
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

/** Below this a request is refused. */
const leastTokens = ({ inputTokens, leastOutputTokens }: Tokens): number => inputTokens + leastOutputTokens

/** The claim that has no room for the request, or the most tokens that all of them have room for. */
export function remainingFor(
  request: Tokens,
  claims: readonly QuotaClaim[],
  uses: readonly QuotaUse[],
): { readonly full: QuotaShortage } | { readonly tokens: number } {
  const rooms = claims.map((claim, at) => ({ claim, use: uses[at] ?? unused }))
  for (const { claim, use } of rooms) {
    const { requests, tokens } = claim.quota
    if (requests > 0 && use.requests >= requests) return { full: { claim, isHeld: false } }
    const isShort = (used: number): boolean => tokens > 0 && used + leastTokens(request) > tokens
    if (isShort(use.tokens)) return { full: { claim, isHeld: !isShort(use.tokens - use.reservedTokens) } }
  }
  const left = rooms.map(({ claim, use }) => (claim.quota.tokens === 0 ? Infinity : claim.quota.tokens - use.tokens))
  return { tokens: Math.min(...left) }
}

const unused: QuotaUse = { requests: 0, tokens: 0, reservedTokens: 0 }

/** Why there is no room: it is used up, or (`isHeld`) requests under way hold it and give back what they do not use. */
export type QuotaShortage = { readonly claim: QuotaClaim; readonly isHeld: boolean }

/** Nobody knows when requests under way end; clients that retry by themselves ask again this soon. */
const heldSeconds = 5

export type QuotaRejection = {
  readonly nowMs: number
  /** Of the event that will tell of it. */
  readonly eventId: string
}

/** How a request is refused that a quota has no room for. */
export function overQuota(shortage: QuotaShortage, request: QuotaRequest, { nowMs, eventId }: QuotaRejection): Fault {
  const { config, version } = request
  const { claim, isHeld } = shortage
  const { subjectKind, quota, window } = claim
  const untilEnd = Math.max(1, Math.ceil((window.endMs - nowMs) / 1000))
  const retryAfterSeconds = isHeld ? Math.min(heldSeconds, untilEnd) : untilEnd
  const neverFits = quota.tokens > 0 && leastTokens(request) > quota.tokens
  return new Fault('rate_limit', 'rate_limit_exceeded', sentence(shortage, neverFits, request), {
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

function sentence(
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
    return `${whole}, and this request needs at least ${inputTokens} tokens for its input and ${leastOutputTokens} for an answer: shorten its input.`
  }
  if (isHeld) return `${whole}, and requests under way hold the rest of it: try again when they have ended.`
  return `${whole}, and has no room for this request until the ${quota.window} ends.`
}
