import { words } from '../words/en.ts'
import { timeZoneOf, wallTimeOf, type Zone } from './zone.ts'

/** Numbers, money, shares and times in the form of the browser's language. */
const integer = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const oneDecimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, minimumFractionDigits: 1 })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

const moneyWith = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
const money = { cents: moneyWith(2), parts: moneyWith(4), tiny: moneyWith(6) }

const shareWith = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat(undefined, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits })
const [share, smallShare] = [shareWith(1), shareWith(2)]

export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? words.common.none : integer.format(value)

export const shortCount = (value: number): string => (value < 10_000 ? integer.format(value) : compact.format(value))

export const oneDigit = (value: number): string => oneDecimal.format(value)

const change = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const signed = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0, signDisplay: 'exceptZero' })

/** A change as a share, with its sign. */
export const signedPercent = (value: number): string => change.format(value)

export const signedMilliseconds = (value: number): string => `${signed.format(value)} ms`

export const seconds = (ms: number): string => integer.format(ms / 1_000)

/** Below 10 ms a decimal says more than a rounded number, if there is one. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return words.common.none
  return value < 10 && !Number.isInteger(value) ? oneDecimal.format(value) : integer.format(value)
}

/** Small amounts need more digits: a request often costs a fraction of a cent. */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined) return words.common.none
  const amount = Math.abs(value)
  if (amount === 0 || amount >= 1) return money.cents.format(value)
  return (amount >= 0.01 ? money.parts : money.tiny).format(value)
}

const shortMoney = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  notation: 'compact',
  maximumSignificantDigits: 2,
})

/** For the axis of a chart, whose values are round. */
export const shortDollars = (value: number): string => shortMoney.format(value)

export const percent = (value: number): string => (value < 0.1 ? smallShare : share).format(value)

type Formats = {
  readonly timeZone: string
  readonly clock: Intl.DateTimeFormat
  readonly minutes: Intl.DateTimeFormat
  readonly day: Intl.DateTimeFormat
  readonly dayAndYear: Intl.DateTimeFormat
  readonly dayAndMinutes: Intl.DateTimeFormat
  readonly zone: Intl.DateTimeFormat
}

function formatsIn(timeZone: string): Formats {
  const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(undefined, { ...options, timeZone })
  const minutes = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const day = { day: 'numeric', month: 'short' } as const
  return {
    timeZone,
    clock: format({ ...minutes, second: '2-digit' }),
    minutes: format(minutes),
    day: format(day),
    dayAndYear: format({ ...day, year: 'numeric' }),
    dayAndMinutes: format({ ...day, ...minutes }),
    zone: format({ timeZoneName: 'short' }),
  }
}

let formats = formatsIn(timeZoneOf('local'))

/** Sets the zone of all times. The shell calls it before it renders a page. */
export function setZone(zone: Zone): void {
  const timeZone = timeZoneOf(zone)
  if (timeZone !== formats.timeZone) formats = formatsIn(timeZone)
}

/** The name of the zone that times are shown in, such as `UTC` or `GMT+1`; it may change with the season. */
export const zoneName = (atMs: number = Date.now()): string =>
  formats.zone.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? formats.timeZone

const dateOf = (atMs: number): string => {
  const { year, month, day: date } = wallTimeOf(atMs, formats.timeZone)
  return `${year}-${month}-${date}`
}

const isToday = (atMs: number): boolean => dateOf(atMs) === dateOf(Date.now())

/** The time of day, with the day in front unless it is today. */
export const time = (atMs: number): string =>
  isToday(atMs) ? formats.clock.format(atMs) : `${formats.day.format(atMs)}, ${formats.clock.format(atMs)}`

/** With the year, with milliseconds where there are some, and with the zone. */
export function fullTime(atMs: number): string {
  const part = Math.floor(atMs) % 1_000
  const fraction = part === 0 ? '' : `.${String(part).padStart(3, '0')}`
  return `${formats.dayAndYear.format(atMs)}, ${formats.clock.format(atMs)}${fraction} ${zoneName(atMs)}`
}

/** The day with its year, and the minute. */
export const dateAndTime = (atMs: number): string =>
  `${formats.dayAndYear.format(atMs)}, ${formats.minutes.format(atMs)}`

/** The day, with its year. */
export const day = (atMs: number): string => formats.dayAndYear.format(atMs)

/** The label of an axis that spans this number of seconds. */
export const axisTime = (atMs: number, spanSeconds: number): string =>
  (spanSeconds <= 172_800 ? formats.minutes : formats.day).format(atMs)

/** From one time to another, `to` exclusive: as days if it consists of whole days, otherwise to the minute. */
export function timeSpan(fromMs: number, toMs: number): string {
  const isMidnight = (ms: number): boolean => {
    const { hour, minute, second } = wallTimeOf(ms, formats.timeZone)
    return hour === 0 && minute === 0 && second === 0
  }
  const thisYear = wallTimeOf(Date.now(), formats.timeZone).year
  const isThisYear = [fromMs, toMs - 1].every((ms) => wallTimeOf(ms, formats.timeZone).year === thisYear)
  if (isMidnight(fromMs) && isMidnight(toMs))
    return (isThisYear ? formats.day : formats.dayAndYear).formatRange(fromMs, toMs - 1)
  const span = formats.dayAndMinutes.formatRange(fromMs, toMs)
  return isThisYear ? span : `${span} (${wallTimeOf(fromMs, formats.timeZone).year})`
}
