import { words } from '../words/en.ts'

/** Numbers and times in the form of the reader's language. */
const integer = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const oneDecimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, minimumFractionDigits: 1 })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const clockMinutes = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? words.common.none : integer.format(value)

export const shortCount = (value: number): string => (value < 10_000 ? integer.format(value) : compact.format(value))

/** Below 10 ms a decimal says more than a rounded number, if there is one. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return words.common.none
  return value < 10 && !Number.isInteger(value) ? oneDecimal.format(value) : integer.format(value)
}

/** Small amounts need more digits: a request often costs a fraction of a cent. */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined) return words.common.none
  const amount = Math.abs(value)
  const digits = amount === 0 || amount >= 1 ? 2 : amount >= 0.01 ? 4 : 6
  return `${value < 0 ? '−' : ''}$${amount.toFixed(digits)}`
}

export const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %`

const isToday = (date: Date): boolean => date.toDateString() === new Date().toDateString()

/** The time of day, with the day in front unless it is today. */
export function time(atMs: number): string {
  const date = new Date(atMs)
  return isToday(date) ? clock.format(date) : `${dayFormat.format(date)}, ${clock.format(date)}`
}

export const fullTime = (atMs: number): string =>
  `${dayAndYear.format(atMs)}, ${clock.format(atMs)}.${String(Math.floor(atMs) % 1_000).padStart(3, '0')}`

/** The day, with its year. */
export const day = (atMs: number): string => dayAndYear.format(atMs)

/** The label of an axis that spans this number of seconds. */
export const axisTime = (atMs: number, spanSeconds: number): string =>
  spanSeconds <= 172_800 ? clockMinutes.format(atMs) : dayFormat.format(atMs)
