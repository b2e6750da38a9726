import { patternUnits, searchUnits, copyUnits, type CostBudget } from './cost-budget.ts'
import { checkedInt } from './operators.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { ExpressionError, isFields, isNumeric, noOverload } from './values.ts'

export type CallParts = { readonly budget: CostBudget; readonly patterns: RulePatterns }

type Method = (parts: CallParts, text: string, args: readonly unknown[]) => unknown

/** The methods of strings. Types were checked when the rule was saved, except those of `metadata`. */
export const stringMethods: Readonly<Record<string, Method>> = {
  contains: ({ budget }, text, args) => {
    const needle = stringIn(args, 0)
    budget.spend(searchUnits(text, needle))
    return text.includes(needle)
  },
  startsWith: (_parts, text, args) => text.startsWith(stringIn(args, 0)),
  endsWith: (_parts, text, args) => text.endsWith(stringIn(args, 0)),
  matches: ({ budget, patterns }, text, args) => {
    const pattern = patterns.find(stringIn(args, 0), budget)
    budget.spend(patternUnits(text, pattern.size))
    return pattern.test(text)
  },
  lowerAscii: ({ budget }, text) => payCopy(budget, text).toLowerCase(),
  upperAscii: ({ budget }, text) => payCopy(budget, text).toUpperCase(),
  trim: ({ budget }, text) => payCopy(budget, text).trim(),
  indexOf: ({ budget }, text, args) => {
    const needle = stringIn(args, 0)
    budget.spend(searchUnits(text, needle))
    return BigInt(text.indexOf(needle, args.length > 1 ? positionIn(args[1], text) : 0))
  },
  lastIndexOf: ({ budget }, text, args) => {
    const needle = stringIn(args, 0)
    budget.spend(searchUnits(text, needle))
    return BigInt(text.lastIndexOf(needle, args.length > 1 ? positionIn(args[1], text) : Infinity))
  },
  substring: (_parts, text, args) => {
    const start = positionIn(args[0], text)
    const end = args.length > 1 ? positionIn(args[1], text) : text.length
    if (end < start) throw new ExpressionError('substring() ends before it begins')
    return text.substring(start, end)
  },
}

/** `size` is both a method and a function; the others are conversions. */
export const functions: Readonly<Record<string, (budget: CostBudget, value: unknown) => unknown>> = {
  size: sizeOf,
  bool: (_budget, value) => toBool(value),
  int: (_budget, value) => toInt(value),
  double: (_budget, value) => toDouble(value),
  string: (_budget, value) => toText(value),
}

function sizeOf(budget: CostBudget, value: unknown): bigint {
  if (Array.isArray(value)) return BigInt(value.length)
  if (isFields(value)) return BigInt(Object.keys(value).length)
  if (typeof value !== 'string') throw noOverload('size()', value)
  budget.spend(value.length)
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

function positionIn(value: unknown, text: string): number {
  const position = Number(value)
  if (typeof value === 'bigint' && position >= 0 && position <= text.length) return position
  throw new ExpressionError('the position is outside of the string')
}

function payCopy(budget: CostBudget, text: string): string {
  budget.spend(text.length * copyUnits)
  return text
}
