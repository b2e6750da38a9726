import type { Effort, Reasoning } from '../../../domain/inference/request.ts'

/** True where the caller wants the model to think, however it said so. */
export const wantsThinking = (reasoning: Reasoning | undefined): reasoning is Reasoning =>
  reasoning !== undefined && reasoning.effort !== 'none'

/** How hard to think, for upstreams that know efforts and no budgets. */
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

/** The least budget that Anthropic takes. */
const leastBudget = 1024

/** For upstreams that know budgets and no efforts; undefined where the answer has no room for thinking. */
export function budgetOf(
  { effort = 'medium', budgetTokens = budgets[effort] }: Reasoning,
  maxTokens: number,
): number | undefined {
  const budget = Math.min(budgetTokens, maxTokens - 1)
  return budget < leastBudget ? undefined : budget
}
