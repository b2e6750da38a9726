import { Fault } from '../../base/fault.ts'
import type { BudgetUnit } from './budget.ts'

export const invalidBudgetField = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}.`, { param })

const microPerUsd = 1_000_000

/** Below the largest whole number that is exact, also with an extra. */
const maxAmount = 1_000_000_000_000_000

/** What a caller wrote, in dollars, tokens or requests, as the amount of a budget. */
export function amountOf(unit: BudgetUnit, value: number, param: string): number {
  const amount = unit === 'usd' ? microUsdOf(value, param) : value
  if (!Number.isInteger(amount)) throw invalidBudgetField(param, `must be a whole number of ${unit}`)
  if (amount <= 0) throw invalidBudgetField(param, 'must be more than 0')
  if (amount > maxAmount) throw invalidBudgetField(param, `must be at most ${displayedAmount(unit, maxAmount)}`)
  return amount
}

function microUsdOf(usd: number, param: string): number {
  if (Number(usd.toFixed(6)) !== usd) throw invalidBudgetField(param, 'must have at most 6 decimals')
  return Math.round(usd * microPerUsd)
}

/** The amount as callers write it. */
export const displayedAmount = (unit: BudgetUnit, amount: number): number =>
  unit === 'usd' ? amount / microPerUsd : amount
