import type { Clock } from '../../../base/clock.ts'
import type { HourCount } from '../../../domain/evaluation/spikes/decision-counts.ts'
import { hourMinutes, minuteOf } from '../../../domain/evaluation/spikes/spike.ts'

const shownHours = 24

/** The first of the hours of the last day, the last of which has begun. */
export const firstHour = (clock: Pick<Clock, 'nowMs'>): number =>
  Math.floor(minuteOf(clock.nowMs()) / hourMinutes) - shownHours + 1

/** What each policy decided in the last day. */
export function statsOf(counts: readonly HourCount[], from: number) {
  const bySubject = Map.groupBy(counts, ({ subject }) => subject)
  return (policyId: string) => {
    const stats = {
      requests_24h: 0,
      matches_24h: 0,
      denials_24h: 0,
      matches_by_hour: Array<number>(shownHours).fill(0),
    }
    for (const { hour, requests, denials, recordedRequests, recordedDenials } of bySubject.get(policyId) ?? []) {
      const matches = denials + recordedDenials
      stats.requests_24h += requests + recordedRequests
      stats.matches_24h += matches
      stats.denials_24h += denials
      const at = hour - from
      stats.matches_by_hour[at] = (stats.matches_by_hour[at] ?? 0) + matches
    }
    return stats
  }
}
