import { toUnixSeconds } from '../../base/clock.ts'
import { inCredits, inUsd } from '../credits/formatting.ts'
import type { AlertContent, AlertLink } from './alert.ts'
import type { AlertFigures, FigurePeriod } from './figures.ts'
import type { AlertRule, RuleFilter, RuleWindow } from './rule.ts'

/** One subject that a rule applies to now. */
export type Breach = Omit<AlertContent, 'kind' | 'threshold' | 'unit'>

export type FigureParts = {
  readonly figures: AlertFigures
  readonly creditUsd: number
  readonly nowMs: number
  /** `The project Support chat`; the organization without a filter. */
  readonly nameOf: (filter: RuleFilter | null) => Promise<string>
}

const windowSeconds: Partial<Record<RuleWindow, number>> = {
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '6h': 21_600,
  '24h': 86_400,
}
const windowNames: Partial<Record<RuleWindow, string>> = {
  '5m': 'the last 5 minutes',
  '15m': 'the last 15 minutes',
  '1h': 'the last hour',
  '6h': 'the last 6 hours',
  '24h': 'the last 24 hours',
}

/** Spending since the start of the day or month, UTC. */
export async function spendBreaches(rule: AlertRule, parts: FigureParts): Promise<Breach[]> {
  const { threshold, unit, filter } = rule
  const isMonth = rule.window === 'month'
  const now = new Date(parts.nowMs)
  const startMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), isMonth ? 1 : now.getUTCDate())
  const period = { from: toUnixSeconds(startMs), to: toUnixSeconds(parts.nowMs) + 1 }
  const micro = await parts.figures.spent(rule.organizationId, period, filter)
  const figure = unit === 'credits' ? inCredits(micro) : inUsd(micro, parts.creditUsd)
  if (threshold === null || figure <= threshold) return []
  const shown = (amount: number): string =>
    unit === 'credits' ? `${amountOf(amount)} credits` : `${amountOf(amount)} USD`
  const when = isMonth ? 'this month' : 'today'
  const name = await parts.nameOf(filter)
  return [
    {
      subject: filter?.id ?? '',
      title: `${name} spent more than ${shown(threshold)} ${when}`,
      text: `${name} spent ${shown(figure)} ${when} (UTC). The threshold is ${shown(threshold)} a ${isMonth ? 'month' : 'day'}.`,
      figure,
      link: { page: 'limits', search: { ...period, ...searchOf(filter) } },
    },
  ]
}

/** The share or number of denied or failed requests of the last minutes or hours. */
export async function shareBreaches(rule: AlertRule, parts: FigureParts): Promise<Breach[]> {
  const { threshold, filter, window } = rule
  const period = periodOf(window, parts.nowMs)
  const { requests, denials, failures } = await parts.figures.requests(rule.organizationId, period, filter)
  const isDenials = rule.kind === 'denials'
  const count = isDenials ? denials : failures
  const isShare = rule.unit === 'percent'
  if (isShare && requests < (rule.minRequests ?? 1)) return []
  const figure = isShare ? (requests === 0 ? 0 : (count / requests) * 100) : count
  if (threshold === null || figure <= threshold) return []
  const shown = (amount: number): string => (isShare ? `${amountOf(amount)} %` : amountOf(amount))
  const when = windowNames[window ?? '15m'] ?? ''
  const [what, how] = isDenials
    ? ['Denials', 'were denied']
    : ['Errors', 'failed because of an upstream or of the service']
  const name = await parts.nameOf(filter)
  return [
    {
      subject: filter?.id ?? '',
      title: `${what} are over ${shown(threshold)}${filter === null ? '' : ` for ${withSmallThe(name)}`}`,
      text: `${name}: ${count} of ${requests} requests in ${when} ${how}${isShare ? ` (${shown(figure)})` : ''}. The threshold is ${shown(threshold)}.`,
      figure,
      link: requestsLink(isDenials ? 'denied' : 'error', period, filter),
    },
  ]
}

const periodOf = (window: RuleWindow | null, nowMs: number): FigurePeriod => {
  const to = toUnixSeconds(nowMs) + 1
  return { from: to - (windowSeconds[window ?? '15m'] ?? 900), to }
}

const requestsLink = (status: string, period: FigurePeriod, filter: RuleFilter | null): AlertLink => ({
  page: 'requests',
  search: { status, ...period, ...searchOf(filter) },
})

const searchOf = (filter: RuleFilter | null): Readonly<Record<string, string>> =>
  filter === null ? {} : { [filter.name]: filter.id }

const withSmallThe = (name: string): string => name.replace(/^The /, 'the ')

/** At most two digits after the point, without zeros at the end. */
export const amountOf = (amount: number): string => String(Number(amount.toFixed(2)))
