import { parseArgs, type ParseArgsConfig } from 'node:util'
import { dayMs, hourMs, minuteMs } from '../base/clock.ts'
import { messageOf } from '../base/fault.ts'
import { UsageError } from './command.ts'

/** Reads options and words; what is not understood is an error that shows the usage. */
export function readArguments<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** The organization that `--org` names; left out where it is not said, since there may be only one. */
export const inOrganization = ({ org }: { readonly org?: string | undefined }): { readonly organization?: string } =>
  org === undefined ? {} : { organization: org }

export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is missing.`)
  return value
}

/** A number that is not negative; undefined where nothing was said. */
export function readNumber(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new UsageError(`${name}: ${text} is no number.`)
  return value
}

/** `2027-01-31`, an ISO time, or `30d`, `12h` from now. */
export function readTime(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null
  const span = /^(\d+)([dhm])$/.exec(text)
  if (span) return nowMs + Number(span[1]) * { d: dayMs, h: hourMs, m: minuteMs }[span[2] as 'd' | 'h' | 'm']
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new UsageError(`${text} is not a time; write 2027-01-31 or 30d.`)
  return at
}
