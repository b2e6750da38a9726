import { startOfDay, wallTimeOf } from './zone.ts'

/** `month` is 1 for January. */
export type CalendarMonth = { readonly year: number; readonly month: number }

const utc = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' })
const monthFormat = utc({ month: 'long', year: 'numeric' })
const dateFormat = utc({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const shortWeekday = utc({ weekday: 'narrow' })
const longWeekday = utc({ weekday: 'long' })

export const monthName = ({ year, month }: CalendarMonth): string => monthFormat.format(Date.UTC(year, month - 1))

/** With its weekday, for readers of the screen. */
export const dateText = (day: string): string => dateFormat.format(Date.parse(day))

/** 5 January 1970 was a Monday. */
const firstMonday = 4
export const weekdayNames = Array.from({ length: 7 }, (_, at) => {
  const ms = Date.UTC(1970, 0, 1 + firstMonday + at)
  return { short: shortWeekday.format(ms), long: longWeekday.format(ms) }
})

const dayMs = 86_400_000
const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export const addDays = (day: string, count: number): string => dayText(Date.parse(day) + count * dayMs)

export function addMonths({ year, month }: CalendarMonth, count: number): CalendarMonth {
  const date = new Date(Date.UTC(year, month - 1 + count))
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 }
}

/** The weeks of a month from Monday to Sunday, with gaps before its first and after its last day. */
export function weeksOf({ year, month }: CalendarMonth): (string | undefined)[][] {
  const first = Date.UTC(year, month - 1)
  const gaps = (new Date(first).getUTCDay() + 6) % 7
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const weeks = Math.ceil((gaps + length) / 7)
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (__, weekday) => {
      const date = week * 7 + weekday - gaps
      return date < 0 || date >= length ? undefined : dayText(first + date * dayMs)
    }),
  )
}

/** The day of a time, as a text such as `2026-11-10`. */
export function dayAt(ms: number, timeZone: string): string {
  const { year, month, day } = wallTimeOf(ms, timeZone)
  return dayText(Date.UTC(year, month - 1, day))
}

export const monthOf = (day: string): CalendarMonth => ({
  year: Number(day.slice(0, 4)),
  month: Number(day.slice(5, 7)),
})

/** From the start of one day to the end of another, in Unix seconds. */
export function daysRange(first: string, last: string, timeZone: string): { from: number; to: number } {
  const startOf = (day: string, later: number): number => {
    const wall = { ...monthOf(day), day: Number(day.slice(-2)), hour: 0, minute: 0, second: 0 }
    return startOfDay(wall, timeZone, later) / 1000
  }
  return { from: startOf(first, 0), to: startOf(last, 1) }
}
