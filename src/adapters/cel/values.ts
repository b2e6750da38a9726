import type { CostBudget } from './cost-budget.ts'
import { itemUnits } from './cost-budget.ts'

/** An evaluation error, such as a missing key or a wrong type. */
export class ExpressionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ExpressionError'
  }
}

/** Maps are records without a prototype, or objects of the request. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `int` is a bigint and `double` a number. They can be compared, but not added. */
export const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map'
}

export const noOverload = (what: string, ...values: unknown[]): ExpressionError =>
  new ExpressionError(`${what} does not take ${values.map(typeNameOf).join(' and ')}`)

/** The items of a list, or the keys of a map. */
export function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (isFields(value)) return Object.keys(value)
  throw noOverload('iteration', value)
}

export function fieldOf(value: unknown, key: unknown): unknown {
  if (Array.isArray(value) && typeof key === 'bigint') {
    if (key >= 0n && key < BigInt(value.length)) return value[Number(key)]
    throw new ExpressionError(`no item ${key} in a list of ${value.length}`)
  }
  if (!isFields(value) || typeof key !== 'string') throw noOverload('[]', value, key)
  if (Object.hasOwn(value, key)) return value[key]
  throw new ExpressionError(`no such key: ${key}`)
}

/** Lists and maps are compared item by item. Values of different types are never equal, except numbers. */
export function isEqual(left: unknown, right: unknown, budget: CostBudget): boolean {
  budget.spend(itemUnits)
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false
    budget.spend(left.length / 8)
    return left === right
  }
  // oxlint-disable-next-line eqeqeq -- the only comparison of a bigint with a number
  if (isNumeric(left) && isNumeric(right)) return left == right
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => isEqual(item, right[at], budget))
  }
  if (isFields(left) && isFields(right)) {
    const keys = Object.keys(left)
    if (keys.length !== Object.keys(right).length) return false
    return keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key], budget))
  }
  return left === right
}
