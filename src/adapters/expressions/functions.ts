import { patternUnits, searchUnits, writtenUnits, type CostBudget } from './cost-budget.ts'
import { checkedInt } from './operators.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { ExpressionError, isFields, isNumeric, noOverload } from './values.ts'

export type CallParts = { readonly purse: CostBudget; readonly patterns: RulePatterns }

type Method = (parts: CallParts, text: string, args: readonly unknown[]) => unknown

/** What can be asked of a string. The types were checked when the rule was saved; of `metadata` they are only known now. */
export const stringMethods: Readonly<Record<string, Method>> = {
  contains: ({ purse }, text, args) => {
    const needle = stringIn(args, 0)
    purse.spend(searchUnits(text, needle))
    return text.includes(needle)
  },
  startsWith: (_parts, text, args) => text.startsWith(stringIn(args, 0)),
  endsWith: (_parts, text, args) => text.endsWith(stringIn(args, 0)),
  matches: ({ purse, patterns }, text, args) => {
    const pattern = patterns.find(stringIn(args, 0), purse)
    purse.spend(patternUnits(text, pattern.size))
    return pattern.test(text)
  },
  lowerAscii: ({ purse }, text) => written(purse, text).toLowerCase(),
  upperAscii: ({ purse }, text) => written(purse, text).toUpperCase(),
  trim: ({ purse }, text) => written(purse, text).trim(),
  indexOf: ({ purse }, text, args) => {
    const needle = stringIn(args, 0)
    purse.spend(searchUnits(text, needle))
    return BigInt(text.indexOf(needle, args.length > 1 ? placeIn(args[1], text) : 0))
  },
  lastIndexOf: ({ purse }, text, args) => {
    const needle = stringIn(args, 0)
    purse.spend(searchUnits(text, needle))
    return BigInt(text.lastIndexOf(needle, args.length > 1 ? placeIn(args[1], text) : Infinity))
  },
  substring: (_parts, text, args) => {
    const start = placeIn(args[0], text)
    const end = args.length > 1 ? placeIn(args[1], text) : text.length
    if (end < start) throw new ExpressionError('substring() ends before it begins')
    return text.substring(start, end)
  },
}

/** `size` is a method and a function; the others convert. */
export const functions: Readonly<Record<string, (purse: CostBudget, value: unknown) => unknown>> = {
  size: sizeOf,
  bool: (_purse, value) => toBool(value),
  int: (_purse, value) => toInt(value),
  double: (_purse, value) => toDouble(value),
  string: (_purse, value) => toText(value),
}

function sizeOf(purse: CostBudget, value: unknown): bigint {
  if (Array.isArray(value)) return BigInt(value.length)
  if (isFields(value)) return BigInt(Object.keys(value).length)
  if (typeof value !== 'string') throw noOverload('size()', value)
  purse.spend(value.length)
  let count = 0
  for (const _character of value) count += 1
  return BigInt(count)
}

function toBool(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'True' || value === 'TRUE' || value === 't' || value === '1') return true
  if (value === 'false' || value === 'False' || value === 'FALSE' || value === 'f' || value === '0') return false
  throw new ExpressionError('bool() cannot convert this')
}

function toInt(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isFinite(value)) return checkedInt(BigInt(Math.trunc(value)))
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return checkedInt(BigInt(value))
  throw new ExpressionError('int() cannot convert this')
}

function toDouble(value: unknown): number {
  if (isNumeric(value)) return Number(value)
  const number =
    typeof value === 'string' && /^[-+]?[\d.]{1,30}(e[-+]?\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN
  if (Number.isNaN(number)) throw new ExpressionError('double() cannot convert this')
  return number
}

function toText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || isNumeric(value)) return String(value)
  throw noOverload('string()', value)
}

function stringIn(args: readonly unknown[], at: number): string {
  const value = args[at]
  if (typeof value === 'string') return value
  throw noOverload('a method of a string', value)
}

function placeIn(value: unknown, text: string): number {
  const place = Number(value)
  if (typeof value === 'bigint' && place >= 0 && place <= text.length) return place
  throw new ExpressionError('the place is outside of the string')
}

function written(purse: CostBudget, text: string): string {
  purse.spend(text.length * writtenUnits)
  return text
}
