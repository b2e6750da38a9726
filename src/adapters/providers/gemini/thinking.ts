import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { Effort, Reasoning } from '../../../domain/inference/request.ts'
import { thinkingBudget } from '../../../domain/inference/thinking-budget.ts'
import { callersName } from '../encoding/lossy-conversions.ts'
import { effortOf } from '../encoding/reasoning.ts'
import { budgetRange, canThink, isPro, isSinceThree } from './models.ts'
import type { ThinkingConfig } from './types.ts'

/** The thinking settings for this model. If it cannot think, they are reported to `onDropped`. */
export function encodeThinking(call: ProviderCall): { thinkingConfig?: ThinkingConfig } {
  const { request, model, onDropped } = call
  const { reasoning } = request
  if (reasoning === undefined) return {}
  if (!canThink(model)) {
    if (reasoning.effort !== 'none') onDropped(callersName(request, 'reasoning'))
    return {}
  }
  const isVisible = reasoning.visible === true && reasoning.effort !== 'none'
  const amount = isSinceThree(model) ? levelOf(reasoning, model) : { thinkingBudget: budgetOf(reasoning, call) }
  return { thinkingConfig: { ...amount, ...(isVisible && { includeThoughts: true }) } }
}

const levels: Readonly<Record<Effort, NonNullable<ThinkingConfig['thinkingLevel']>>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** Without an effort the model decides. */
function levelOf(reasoning: Reasoning, model: string): Pick<ThinkingConfig, 'thinkingLevel'> {
  const effort = effortOf(reasoning)
  if (effort === undefined) return {}
  const level = levels[effort]
  return { thinkingLevel: level === 'MINIMAL' && isPro(model) ? 'LOW' : level }
}

/** Thoughts count towards the output limit, so the answer keeps at least half of it. */
function budgetOf(reasoning: Reasoning, { model, outputLimit }: ProviderCall): number {
  const { least, most } = budgetRange(model)
  const half = outputLimit.isExplicit ? Math.floor(outputLimit.tokens / 2) : most
  const budget = reasoning.effort === 'none' ? 0 : thinkingBudget(reasoning)
  if (budget === 0 && !isPro(model)) return 0
  return Math.max(least, Math.min(budget, half, most))
}
