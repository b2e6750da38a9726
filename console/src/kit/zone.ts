/** The zones that times are shown in, as the address names them. */
export const zones = ['local', 'utc'] as const
export type Zone = (typeof zones)[number]

/** The name of the zone for `Intl`. */
export const timeZoneOf = (zone: Zone): string =>
  zone === 'utc' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone

/** What a clock and a calendar on the wall show. `month` is 1 for January. */
export type WallTime = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const numeric = 'numeric'
  const fields = {
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  } as const
  const format = new Intl.DateTimeFormat('en-US', { ...fields, timeZone, hourCycle: 'h23', era: 'short' })
  formats.set(timeZone, format)
  return format
}

export function wallTimeOf(ms: number, timeZone: string): WallTime {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  )
  const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
  return {
    year: number('year'),
    month: number('month'),
    day: number('day'),
    hour: number('hour'),
    minute: number('minute'),
    second: number('second'),
  }
}

const utcOf = ({ year, month, day, hour, minute, second }: WallTime): number =>
  Date.UTC(year, month - 1, day, hour, minute, second)

const offsetAt = (ms: number, timeZone: string): number =>
  utcOf(wallTimeOf(ms, timeZone)) - Math.floor(ms / 1000) * 1000

const dayMs = 86_400_000

/**
 * The time at which the wall shows this. Fields may be beyond their range: day 32 of January is 1 February. A time that the clock shows
 * twice is the first one. A time that it skips counts on from the hour before.
 */
export function instantOf(wall: WallTime, timeZone: string): number {
  const utc = utcOf(wall)
  const candidates = [utc - offsetAt(utc - dayMs, timeZone), utc - offsetAt(utc + dayMs, timeZone)]
  const shown = candidates.filter((ms) => utcOf(wallTimeOf(ms, timeZone)) === utc)
  return shown.length === 0 ? (candidates[0] ?? utc) : Math.min(...shown)
}

/** The start of a day, some days later or earlier. */
export const startOfDay = ({ year, month, day }: WallTime, timeZone: string, days = 0): number =>
  instantOf({ year, month, day: day + days, hour: 0, minute: 0, second: 0 }, timeZone)

/** 0 is Sunday. */
export const weekdayOf = ({ year, month, day }: WallTime): number =>
  new Date(Date.UTC(year, month - 1, day)).getUTCDay()
