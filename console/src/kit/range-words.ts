import { instantOf, startOfDay, wallTimeOf, weekdayOf, type WallTime } from './zone.ts'

/** In Unix seconds, `to` exclusive. */
export type ReadRange = { readonly from: number; readonly to: number }

export type RangeContext = { readonly nowMs: number; readonly timeZone: string }

/** From one time to another, in milliseconds. */
type Span = { readonly fromMs: number; readonly toMs: number }

const hourMs = 3_600_000

/** Reads a range that a person typed, such as `last Tuesday`, `yesterday 14:00 to 15:00`, `10 Nov` or `last 3 days`. */
export function readRangeWords(text: string, context: RangeContext): ReadRange | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/^(on|from|between) /, '')
  const span = sinceOf(words, context) ?? spanOf(words, context) ?? betweenOf(words, context)
  if (span === undefined || span.fromMs >= span.toMs) return undefined
  return { from: Math.floor(span.fromMs / 1000), to: Math.ceil(span.toMs / 1000) }
}

function sinceOf(words: string, context: RangeContext): Span | undefined {
  const start = words.startsWith('since ') ? spanOf(words.slice('since '.length), context) : undefined
  return start && { fromMs: start.fromMs, toMs: context.nowMs }
}

/** The parts of `A to B`. A hyphen without spaces belongs to a date. */
const separator = /^(.+?)(?: to | until | till | and | – | - |–|\.\.)(.+)$/

function betweenOf(words: string, context: RangeContext): Span | undefined {
  const [, first = '', second = ''] = separator.exec(words) ?? []
  if (first === '' || second === '') return undefined
  const [from, to] = [first.trim(), second.trim()]
  const start = spanOf(from, context) ?? spanOf(`${from} ${monthAndYearIn(to)}`, context)
  if (start === undefined) return undefined
  const time = timeOf(to)
  if (time === undefined) {
    const end = spanOf(to, context)
    return end && { fromMs: start.fromMs, toMs: hasTime(to) || to === 'now' ? end.fromMs : end.toMs }
  }
  const wall = wallTimeOf(start.fromMs, context.timeZone)
  const sameDay = instantOf({ ...wall, ...time }, context.timeZone)
  const toMs = sameDay > start.fromMs ? sameDay : instantOf({ ...wall, ...time, day: wall.day + 1 }, context.timeZone)
  return { fromMs: start.fromMs, toMs }
}

/** For `8 to 10 Nov`. */
const monthAndYearIn = (words: string): string => /[a-z]{3,}.*$/.exec(words)?.[0] ?? ''

const hasTime = (words: string): boolean => splitTime(words)[1] !== undefined

/** A day, a longer unit, a number of units up to now, or a day with a time, which is an hour. */
function spanOf(words: string, context: RangeContext): Span | undefined {
  const { nowMs } = context
  if (words === 'now') return { fromMs: nowMs, toMs: nowMs }
  const whole = lastUnits(words, context) ?? unitOf(words, context) ?? dayOf(words, context)
  if (whole) return whole
  const [dayWords, time] = splitTime(words)
  if (time === undefined) return undefined
  const day = dayOf(dayWords === '' ? 'today' : dayWords, context)
  if (day === undefined) return undefined
  const fromMs = instantOf({ ...wallTimeOf(day.fromMs, context.timeZone), ...time }, context.timeZone)
  return { fromMs, toMs: fromMs + hourMs }
}

type ClockTime = Pick<WallTime, 'hour' | 'minute' | 'second'>

function timeOf(words: string): ClockTime | undefined {
  if (words === 'noon') return { hour: 12, minute: 0, second: 0 }
  if (words === 'midnight') return { hour: 0, minute: 0, second: 0 }
  const [, hours, minutes, seconds = '0', half] = /^(\d{1,2})(?::(\d\d)(?::(\d\d))?)? ?(am|pm)?$/.exec(words) ?? []
  if (hours === undefined || (minutes === undefined && half === undefined)) return undefined
  const given = Number(hours)
  if (half !== undefined && (given < 1 || given > 12)) return undefined
  const hour = half === undefined ? given : (given % 12) + (half === 'pm' ? 12 : 0)
  const [minute, second] = [Number(minutes ?? 0), Number(seconds)]
  return hour <= 24 && minute < 60 && second < 60 ? { hour, minute, second } : undefined
}

/** The words of a day, and the time after them or before them. */
function splitTime(words: string): readonly [day: string, time: ClockTime | undefined] {
  const alone = timeOf(words)
  if (alone) return ['', alone]
  const clock = String.raw`\d{1,2}(?::\d\d){0,2} ?(?:am|pm)?|noon|midnight`
  const [, day, after] = new RegExp(`^(.+?),? (?:at )?(${clock})$`).exec(words) ?? []
  const late = after === undefined ? undefined : timeOf(after.trim())
  if (day !== undefined && late) return [day, late]
  const [, before, rest] = new RegExp(`^(${clock}) (?:on )?(.+)$`).exec(words) ?? []
  const early = before === undefined ? undefined : timeOf(before.trim())
  return rest !== undefined && early ? [rest, early] : [words, undefined]
}

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const
type Unit = (typeof units)[number]
const unitMs = { second: 1_000, minute: 60_000, hour: hourMs } as const

const unitIn = (word: string): Unit | undefined =>
  units.find((unit) => word === unit || word === `${unit}s`) ??
  ({ min: 'minute', mins: 'minute', m: 'minute', h: 'hour', hr: 'hour', hrs: 'hour', d: 'day', w: 'week' } as const)[
    word
  ]

/** `last 3 days` and `past 2 hours` end now; `last hour` does as well. */
function lastUnits(words: string, { nowMs, timeZone }: RangeContext): Span | undefined {
  const [, number, word = ''] = /^(?:last|past|previous)(?: (\d{1,4}))? ?([a-z]+)$/.exec(words) ?? []
  const unit = unitIn(word)
  const isPart = unit === 'second' || unit === 'minute' || unit === 'hour'
  if (unit === undefined || (number === undefined && !isPart)) return undefined
  const count = Number(number ?? 1)
  if (isPart) return { fromMs: nowMs - count * unitMs[unit], toMs: nowMs }
  const wall = wallTimeOf(nowMs, timeZone)
  return { fromMs: instantOf(addUnits(wall, unit, -count), timeZone), toMs: nowMs }
}

function addUnits(wall: WallTime, unit: 'day' | 'week' | 'month' | 'year', count: number): WallTime {
  if (unit === 'day' || unit === 'week') return { ...wall, day: wall.day + count * (unit === 'week' ? 7 : 1) }
  const months = wall.year * 12 + wall.month - 1 + count * (unit === 'year' ? 12 : 1)
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1]
  return { ...wall, year, month, day: Math.min(wall.day, daysIn(year, month)) }
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** `this week` begins on Monday. */
function unitOf(words: string, { nowMs, timeZone }: RangeContext): Span | undefined {
  const [, which, word] = /^(this|last|previous) (week|month|year)$/.exec(words) ?? []
  const unit = word === 'week' || word === 'month' || word === 'year' ? word : undefined
  if (unit === undefined) return undefined
  const midnight = { ...wallTimeOf(nowMs, timeZone), hour: 0, minute: 0, second: 0 }
  const begin = {
    week: { ...midnight, day: midnight.day - ((weekdayOf(midnight) + 6) % 7) },
    month: { ...midnight, day: 1 },
    year: { ...midnight, month: 1, day: 1 },
  }[unit]
  const at = (count: number): number => instantOf(addUnits(begin, unit, count), timeZone)
  return which === 'this' ? { fromMs: at(0), toMs: at(1) } : { fromMs: at(-1), toMs: at(0) }
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

/** The position of a name that is written out or cut to three letters or more. */
function positionOf(names: readonly string[], word: string): number | undefined {
  const at = word.length < 3 ? -1 : names.findIndex((name) => name.startsWith(word.replace(/\.$/, '')))
  return at === -1 ? undefined : at
}

function dayOf(words: string, context: RangeContext): Span | undefined {
  const { nowMs, timeZone } = context
  const today = wallTimeOf(nowMs, timeZone)
  const daysAgo = daysAgoIn(words, today)
  const date = daysAgo === undefined ? dateOf(words, today) : { ...today, day: today.day - daysAgo }
  return date && { fromMs: startOfDay(date, timeZone), toMs: startOfDay(date, timeZone, 1) }
}

function daysAgoIn(words: string, today: WallTime): number | undefined {
  if (words === 'today') return 0
  if (words === 'yesterday') return 1
  if (words === 'day before yesterday' || words === 'the day before yesterday') return 2
  const ago = /^(\d{1,4}|a) (day|week)s? ago$/.exec(words)
  if (ago) return (ago[1] === 'a' ? 1 : Number(ago[1])) * (ago[2] === 'week' ? 7 : 1)
  const weekday = positionOf(weekdays, words.replace(/^last /, ''))
  if (weekday === undefined) return undefined
  return (weekdayOf(today) - weekday + 7) % 7 || 7
}

type CalendarDay = Pick<WallTime, 'year' | 'month' | 'day'>

function dateOf(words: string, today: WallTime): WallTime | undefined {
  const date = isoDate(words) ?? namedDate(words, today)
  if (date === undefined || date.day < 1 || date.day > daysIn(date.year, date.month)) return undefined
  return { ...date, hour: 0, minute: 0, second: 0 }
}

function isoDate(words: string): CalendarDay | undefined {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(words)
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(words)
  const [year, month, day] = (iso ? iso.slice(1) : (dotted?.slice(1).toReversed() ?? [])).map(Number)
  if (year === undefined || month === undefined || day === undefined || month < 1 || month > 12) return undefined
  return { year, month, day }
}

/** `10 Nov`, `November 10th 2026`. Without a year it is the latest such day that is not in the future. */
function namedDate(words: string, today: WallTime): CalendarDay | undefined {
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]+)\.?,?(?: (\d{4}))?$/.exec(words)
  const monthFirst = /^([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?$/.exec(words)
  const [dayText, monthText, yearText] = dayFirst
    ? [dayFirst[1], dayFirst[2], dayFirst[3]]
    : [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]]
  const at = positionOf(months, monthText ?? '')
  if (at === undefined || dayText === undefined) return undefined
  const [day, month] = [Number(dayText), at + 1]
  if (yearText !== undefined) return { year: Number(yearText), month, day }
  const isAhead = month > today.month || (month === today.month && day > today.day)
  return { year: today.year - (isAhead ? 1 : 0), month, day }
}
