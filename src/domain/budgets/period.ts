import { dayMs, hourMs } from '../../base/clock.ts'
import type { Budget } from './budget.ts'

/** Unix milliseconds; the end is exclusive, and null for a period that never ends. */
export type PeriodRange = { readonly startMs: number; readonly endMs: number | null }

type CalendarPeriod = Exclude<Budget['period'], 'once'>
type CalendarRange = { readonly startMs: number; readonly endMs: number }

/** A day of the calendar. Days and months outside of their range are counted on, as `Date.UTC` does. */
type CalendarDay = { readonly year: number; readonly month: number; readonly day: number }

/**
 * The period of a budget that contains a time. Sums are kept by the hour of UTC, so the start is rounded down to a full one: in zones
 * with half hours, periods begin up to 45 minutes before midnight.
 */
export function periodAt(
  { period, timeZone, createdAtMs }: Pick<Budget, 'period' | 'timeZone' | 'createdAtMs'>,
  nowMs: number,
): PeriodRange {
  if (period === 'once') return { startMs: fullHour(createdAtMs), endMs: null }
  const known = lastRanges.get(timeZone)?.[period]
  if (known !== undefined && nowMs >= known.startMs && nowMs < known.endMs) return known
  const range = rangeAt(period, timeZone, nowMs)
  if (lastRanges.size >= maxZones) lastRanges.clear()
  lastRanges.set(timeZone, { ...lastRanges.get(timeZone), [period]: range })
  return range
}

/** Whether `Intl` knows the zone. Offsets such as `+02:00` are no zones: they have no name in the time zone database. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== ''
  } catch {
    return false
  }
}

/** The last range of each period and zone: formatting takes microseconds, and every request of an organization with budgets asks. */
const lastRanges = new Map<string, Partial<Record<CalendarPeriod, CalendarRange>>>()

/** There are some 600 names, and each can be written with other capital letters. */
const maxZones = 1_000

const fullHour = (ms: number): number => Math.floor(ms / hourMs) * hourMs

function rangeAt(period: CalendarPeriod, timeZone: string, nowMs: number): CalendarRange {
  const today = dayAt(nowMs, timeZone)
  const startOf = (periods: number): number => fullHour(startOfDay(firstDay(period, today, periods), timeZone))
  // Before midnight of a zone with half hours, the hour in which the next period begins can already have begun.
  const at = startOf(1) <= nowMs ? 1 : 0
  return { startMs: startOf(at), endMs: startOf(at + 1) }
}

/** The first day of the period that contains a day, or of one that many periods later. */
function firstDay(period: CalendarPeriod, { year, month, day }: CalendarDay, periods: number): CalendarDay {
  switch (period) {
    case 'day':
      return { year, month, day: day + periods }
    case 'week': {
      const daysSinceMonday = (new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7
      return { year, month, day: day - daysSinceMonday + 7 * periods }
    }
    case 'month':
      return { year, month: month + periods, day: 1 }
  }
}

/** The first moment of a day in a zone. Where a change of the clock skips midnight, that is the moment of the change. */
function startOfDay({ year, month, day }: CalendarDay, timeZone: string): number {
  const midnight = Date.UTC(year, month, day)
  const before = midnight - offsetAt(midnight - dayMs, timeZone)
  const after = midnight - offsetAt(midnight + dayMs, timeZone)
  const shows = (ms: number): boolean => ms + offsetAt(ms, timeZone) === midnight
  const first = Math.min(before, after)
  if (shows(first)) return first
  return shows(after) ? after : before
}

/** How many milliseconds the clocks of a zone are ahead of UTC. */
const offsetAt = (ms: number, timeZone: string): number => localTime(ms, timeZone) - Math.floor(ms / 1000) * 1000

function dayAt(ms: number, timeZone: string): CalendarDay {
  const local = new Date(localTime(ms, timeZone))
  return { year: local.getUTCFullYear(), month: local.getUTCMonth(), day: local.getUTCDate() }
}

/** What the clocks of a zone show, to the second, as if they showed UTC. */
function localTime(ms: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(ms)
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .filter(({ type }) => type !== 'literal')
    .map(({ value }) => Number(value))
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Creating a format is expensive. Throws a RangeError for an unknown zone. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const created = new Intl.DateTimeFormat('ja-JP', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  if (formats.size >= maxZones) formats.clear()
  formats.set(timeZone, created)
  return created
}
