import { dayMs, hourMs, minuteMs, toUnixSeconds } from '../../base/clock.ts'
import type { ProjectKey } from '../identity/store.ts'
import type { ScopeLimits } from '../limits/scopes.ts'
import { amountOf, type Breach } from './breach.ts'
import type { AlertFigures, FigurePeriod, KeyFigures } from './figures.ts'
import type { AlertRule } from './rule.ts'

export type KeyBreachParts = {
  readonly figures: Pick<AlertFigures, 'keys'>
  readonly nowMs: number
  readonly limitsOf: (keyId: string) => Promise<ScopeLimits>
  /** Undefined for what is no API key of the organization, such as a user with a token. */
  readonly findKey: (keyId: string) => Promise<Pick<ProjectKey, 'name' | 'projectId'> | undefined>
}

/** Keys that have used this share of their requests or tokens of the last 24 hours or of the last full minute. */
export async function keyBreaches(rule: AlertRule, parts: KeyBreachParts): Promise<Breach[]> {
  const { threshold, filter } = rule
  if (threshold === null) return []
  const isMinute = rule.window === 'minute'
  const period = isMinute ? lastMinute(parts.nowMs) : lastDay(parts.nowMs)
  const used = await parts.figures.keys(rule.organizationId, period)
  const breaches: Breach[] = []
  for (const figures of used) {
    if (filter?.name === 'api_key_id' && filter.id !== figures.keyId) continue
    const nearest = nearestLimit(figures, await parts.limitsOf(figures.keyId), isMinute)
    if (nearest.percent < threshold) continue
    const key = await parts.findKey(figures.keyId)
    if (!key || (filter?.name === 'project_id' && filter.id !== key.projectId)) continue
    breaches.push(breachOf(figures.keyId, { ...nearest, name: key.name, threshold, isMinute, period }))
  }
  return breaches
}

type Nearest = { readonly percent: number; readonly used: number; readonly limit: number; readonly what: string }

function nearestLimit({ requests, tokens }: KeyFigures, limits: ScopeLimits, isMinute: boolean): Nearest {
  const of = (used: number, limit: number, what: string): Nearest => ({
    percent: limit === 0 ? 0 : (used / limit) * 100,
    used,
    limit,
    what,
  })
  const byRequests = of(requests, isMinute ? limits.rpm : limits.rpd, 'requests')
  const byTokens = of(tokens, isMinute ? limits.tpm : limits.tpd, 'tokens')
  return byTokens.percent > byRequests.percent ? byTokens : byRequests
}

type NearKey = Nearest & {
  readonly name: string
  readonly threshold: number
  readonly isMinute: boolean
  readonly period: FigurePeriod
}

function breachOf(keyId: string, near: NearKey): Breach {
  const { name, percent, used, limit, what, threshold, isMinute, period } = near
  const limitName = isMinute ? 'minute limit' : 'day limit'
  return {
    subject: keyId,
    title: `The key ${name} has used ${amountOf(percent)} % of its ${limitName}`,
    text: `The key ${name} used ${used} of ${limit} ${what} of its ${limitName} (${amountOf(percent)} %). The threshold is ${amountOf(threshold)} %.`,
    figure: percent,
    link: { page: 'requests', search: { api_key_id: keyId, ...period } },
  }
}

/** As the limits count a day: the current hour and the 24 before it. */
const lastDay = (nowMs: number): FigurePeriod => ({
  from: toUnixSeconds(Math.floor(nowMs / hourMs) * hourMs - dayMs),
  to: toUnixSeconds(nowMs) + 1,
})

const lastMinute = (nowMs: number): FigurePeriod => {
  const startMs = (Math.floor(nowMs / minuteMs) - 1) * minuteMs
  return { from: toUnixSeconds(startMs), to: toUnixSeconds(startMs + minuteMs) }
}
