import { parseArgs, type ParseArgsConfig } from 'node:util'
import { dayMs, hourMs, minuteMs } from '../base/clock.ts'
import { messageOf } from '../base/fault.ts'
import { UsageError } from './command.ts'

/** Parses options and at most `maxPositionals` other arguments. Any mistake is an error that shows the usage. */
export function readArguments<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
  maxPositionals = 0,
) {
  const read = parse(args, options)
  const surplus = read.positionals[maxPositionals]
  // Reject extra arguments: `keys revoke A B` must not silently revoke only A.
  if (surplus !== undefined) throw new UsageError(`Unexpected argument: ${surplus}.`)
  return read
}

function parse<const O extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** Takes out the options that stand for an environment variable, written as `--name VALUE` or `--name=VALUE`. */
export function takeSettings(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): { readonly args: readonly string[]; readonly settings: Readonly<Record<string, string>> } {
  const settings: Record<string, string> = {}
  const rest: string[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    const [name = '', ...inline] = word.split('=')
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (variable === undefined) rest.push(word)
    else settings[variable] = required(inline.length > 0 ? inline.join('=') : args[++at], `The value of ${name}`)
  }
  return { args: rest, settings }
}

export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is missing.`)
  return value
}

/** A number from 0; undefined without a text. */
export function readNumber(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new UsageError(`${name}: ${text} is not a number from 0.`)
  return value
}

/** A number of rows to show. */
export function readCount(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,2}$/.test(text) || text === '1000') return Number(text)
  throw new UsageError(`${name} must be a whole number from 1 to 1000.`)
}

/** A list separated by commas; empty for an empty text. */
export const readList = (text: string | undefined): string[] | undefined =>
  text?.split(',').flatMap((word) => word.trim() || [])

/** Unix seconds of a date or an ISO time, or of `7d`, a week ago. */
export function readPastTime(text: string | undefined, nowMs: number): number | undefined {
  const atMs = readTime(text, nowMs)
  if (atMs === null || text === undefined) return undefined
  return Math.floor((/^\d+[dhm]$/.test(text) ? 2 * nowMs - atMs : atMs) / 1000)
}

/** `2027-01-31`, an ISO time, or `30d`, `12h` from now. */
export function readTime(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null
  const span = /^(\d+)([dhm])$/.exec(text)
  if (span) return nowMs + Number(span[1]) * { d: dayMs, h: hourMs, m: minuteMs }[span[2] as 'd' | 'h' | 'm']
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new UsageError(`${text} is not a time; write a date such as 2027-01-31, or 30d.`)
  return at
}
