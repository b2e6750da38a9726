import type { Effort, Reasoning } from './request.ts'

/** Tokens for reasoning, for upstreams that support budgets and not efforts. */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 4096,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
}

/** The tokens that a request may spend on reasoning: its budget, or the one of its effort. */
export const thinkingBudget = ({ effort = 'medium', budgetTokens = budgets[effort] }: Reasoning): number => budgetTokens
