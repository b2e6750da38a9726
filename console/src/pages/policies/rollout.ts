import type { Bar } from '../../kit/stacked-bars.tsx'
import type { DecisionHour } from './queries.ts'

/** Requests of a period, and how many of them matched the rule. */
export type Rate = { readonly requests: number; readonly matches: number }

const hourSeconds = 3_600

const recordedOf = ({ recorded }: DecisionHour): Rate => ({ requests: recorded.requests, matches: recorded.denied })
const enforcedOf = ({ enforced }: DecisionHour): Rate => ({ requests: enforced.requests, matches: enforced.denied })

const sumOf = (rates: readonly Rate[]): Rate =>
  rates.reduce((sum, each) => ({ requests: sum.requests + each.requests, matches: sum.matches + each.matches }), {
    requests: 0,
    matches: 0,
  })

/** The counts of one version, apart for monitoring and for enforcing, since a time in seconds. */
export function ratesSince(hours: readonly DecisionHour[], since: number): { monitoring: Rate; enforcing: Rate } {
  const counted = hours.filter(({ start_time: start }) => start + hourSeconds > since)
  return { monitoring: sumOf(counted.map(recordedOf)), enforcing: sumOf(counted.map(enforcedOf)) }
}

export const shareOf = ({ requests, matches }: Rate): number | undefined =>
  requests === 0 ? undefined : matches / requests

/** One bar for each hour up to now. Hours without requests are empty. */
export function barsOf(hours: readonly DecisionHour[], count: number, nowMs: number): Bar[] {
  const last = Math.floor(nowMs / 1_000 / hourSeconds) * hourSeconds
  const byStart = Map.groupBy(hours, ({ start_time: start }) => start)
  return Array.from({ length: count }, (_, at) => {
    const start = last - (count - 1 - at) * hourSeconds
    const ofHour = byStart.get(start) ?? []
    const values = { denied: sumOf(ofHour.map(enforcedOf)).matches, monitored: sumOf(ofHour.map(recordedOf)).matches }
    return { startMs: start * 1_000, values }
  })
}
