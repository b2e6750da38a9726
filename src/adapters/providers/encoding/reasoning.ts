import type { Effort, Reasoning } from '../../../domain/inference/request.ts'
import { thinkingBudget } from '../../../domain/inference/thinking-budget.ts'

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

/** Anthropic rejects smaller budgets. */
const minBudget = 1024

/** Left for the answer after the reasoning if the caller set no output limit. */
const answerTokens = 8_192

/**
 * The budget, for upstreams that support budgets and not efforts. The answer keeps at least half of the output limit, because
 * reasoning uses its budget first. Undefined if the limit is too small for thinking.
 */
export function budgetOf(
  reasoning: Reasoning,
  { maxTokens, isCallers }: { readonly maxTokens: number; readonly isCallers: boolean },
): number | undefined {
  const half = Math.floor(maxTokens / 2)
  const budget = Math.min(thinkingBudget(reasoning), isCallers ? half : Math.max(half, maxTokens - answerTokens))
  return budget < minBudget ? undefined : budget
}
