import type { Effort, Reasoning } from '../../../domain/inference/request.ts'

/** True if the caller requested thinking, by effort or by budget. */
export const wantsThinking = (reasoning: Reasoning | undefined): reasoning is Reasoning =>
  reasoning !== undefined && reasoning.effort !== 'none'

/** The effort, for upstreams that support efforts and not budgets. A budget is converted to the nearest effort. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort | undefined {
  if (effort !== undefined || budgetTokens === undefined) return effort
  if (budgetTokens < 2_000) return 'low'
  if (budgetTokens < 8_000) return 'medium'
  return budgetTokens < 24_000 ? 'high' : 'xhigh'
}

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 4096,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
}

/** Anthropic rejects smaller budgets. */
const minBudget = 1024

/** The budget, for upstreams that support budgets and not efforts. Undefined if `maxTokens` is too small for thinking. */
export function budgetOf(
  { effort = 'medium', budgetTokens = budgets[effort] }: Reasoning,
  maxTokens: number,
): number | undefined {
  const budget = Math.min(budgetTokens, maxTokens - 1)
  return budget < minBudget ? undefined : budget
}
