import { createHash } from 'node:crypto'
import { dayMs } from '../../base/clock.ts'
import { countOnly, type BudgetDemand, type BudgetUse } from '../limits/budget-counters.ts'
import { amountAt, type Budget } from './budget.ts'
import { matches, memberOf, type Spender } from './match.ts'
import { periodAt, type PeriodRange } from './period.ts'

/** What a request spends at most, or has spent. */
export type BudgetSpend = { readonly micro: number; readonly tokens: number; readonly requests: number }

/** A budget that applies to a request, and whose counter that is. */
export type AppliedBudget = {
  readonly budget: Budget
  readonly member: string | null
  readonly period: PeriodRange
  readonly counter: string
}

/** The budgets that can reject the request or change its model. A budget that only warns is not counted here. */
export function appliedBudgets(budgets: readonly Budget[], spender: Spender, nowMs: number): AppliedBudget[] {
  const applied: AppliedBudget[] = []
  for (const budget of budgets) {
    if (budget.action.type === 'warn' || !matches(budget, spender)) continue
    const member = memberOf(budget, spender)
    if (member === undefined) continue
    const period = periodAt(budget, nowMs)
    applied.push({ budget, member, period, counter: counterOf(budget, member, period) })
  }
  return applied
}

/** What the request may use of a budget. `exceeded` counts it and does not reject it. */
export const demandOf = (
  { budget, period, counter }: AppliedBudget,
  { worst, nowMs, creditUsd, exceeded }: DemandTerms,
): BudgetDemand => ({
  counter,
  limit: budget.id === exceeded ? countOnly : limitOf(budget, period, { nowMs, creditUsd }),
  amount: inUnit(budget, worst),
  phase: phaseAt(budget, nowMs),
})

export type DemandTerms = {
  readonly worst: BudgetSpend
  readonly nowMs: number
  readonly creditUsd: number
  readonly exceeded?: string | undefined
}

export const useOf = ({ budget, counter }: AppliedBudget, spend: BudgetSpend): BudgetUse => ({
  counter,
  amount: inUnit(budget, spend),
})

/** In micro-credits, tokens or requests: the units of the ledger. */
export function inUnit({ unit }: Pick<Budget, 'unit'>, { micro, tokens, requests }: BudgetSpend): number {
  if (unit === 'usd') return micro
  return unit === 'tokens' ? tokens : requests
}

export function limitOf(
  budget: Budget,
  { startMs }: PeriodRange,
  { nowMs, creditUsd }: { readonly nowMs: number; readonly creditUsd: number },
): number {
  const amount = amountAt(budget, startMs, nowMs)
  return budget.unit === 'usd' ? Math.min(countOnly, Math.floor(amount / creditUsd)) : amount
}

/** By then every node knows of a change of a budget, also one whose clock is some seconds behind. */
const knownAfterMs = 10_000

/**
 * A change begins a phase of the budget, and another one begins when all nodes know of it. Spend is missed that is settled while the
 * budget is paused, or by a node that does not know of it yet, so counters are opened again.
 */
export const phaseAt = ({ revision, updatedAtMs }: Budget, nowMs: number): number =>
  revision * 2 + (nowMs >= updatedAtMs + knownAfterMs ? 1 : 0)

/** Charges that end late are written some time after the period. */
const graceMs = dayMs

export const expiryOf = ({ period: { endMs } }: AppliedBudget): number =>
  endMs === null ? Number.MAX_SAFE_INTEGER : endMs + graceMs

/** A change of what a budget counts gives it other counters. A change of its amount does not. */
export function counterOf(budget: Budget, member: string | null, { startMs }: PeriodRange): string {
  const name = periodName(budget, startMs)
  if (member === null) return name
  return isPlain(member) ? `${name}=${member}` : `${name}#${digest(member)}`
}

const isPlain = (member: string): boolean => member.length <= 64 && /^[\w.:@-]*$/.test(member)

/** Every request needs the names of its budgets. */
const lastNames = new WeakMap<Budget, { readonly startMs: number; readonly name: string }>()

function periodName(budget: Budget, startMs: number): string {
  const last = lastNames.get(budget)
  if (last?.startMs === startMs) return last.name
  const { id, match, per, unit, period, timeZone } = budget
  const name = `${id}:${digest(JSON.stringify([match, per, unit, period, timeZone]))}:${startMs.toString(36)}`
  lastNames.set(budget, { startMs, name })
  return name
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)
