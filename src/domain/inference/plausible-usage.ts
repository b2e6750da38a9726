import { totalInputTokens, totalTokens, type Usage } from './events.ts'
import type { Model } from './catalogue.ts'
import type { InferenceRequest } from './request.ts'

/** The most that a request can have used. */
export type UsageBounds = {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Beyond the output, where an upstream says that it reasoned outside of its cap. */
  readonly reasoningTokens: number
}

/** What we counted ourselves, and the bytes of output that came by: a token has one at least. */
export type OwnCount = { readonly inputTokens: number; readonly outputTokens: number; readonly outputBytes: number }

export type Sent = {
  readonly model: Pick<Model, 'contextTokens' | 'maxOutputTokens'>
  readonly request: Pick<InferenceRequest, 'tools'>
  readonly expected: Usage
  readonly maxOutputTokens: number
}

/** Our estimate divides bytes by 3.5, and no tokenizer makes more than a token of each byte. */
const mostTokensPerEstimated = 4
/** For what an upstream adds to a prompt, and for rounding its cap up. */
const addedInputTokens = 8_192
const addedOutputTokens = 1_024
/** An upstream that runs tools itself reads its context again after each of them. */
const mostHostedRounds = 16

export function usageBounds({ model, request, expected, maxOutputTokens }: Sent): UsageBounds {
  const sent = expected.inputTokens * mostTokensPerEstimated + addedInputTokens
  const runsTools = request.tools.some(({ type }) => type !== 'function')
  return {
    inputTokens: Math.max(model.contextTokens, sent) * (runsTools ? mostHostedRounds : 1),
    outputTokens: 2 * Math.min(maxOutputTokens, model.contextTokens) + addedOutputTokens,
    reasoningTokens: model.maxOutputTokens,
  }
}

/**
 * A report as far as it can be true. What is beyond the bounds says nothing about the request, so our own count stands in
 * its place, and what was reported is kept beside it. A plausible report is answered as it is.
 */
export function plausibleUsage(reported: Usage, most: UsageBounds, own: OwnCount): Usage {
  const reasoning = Math.min(reported.reasoningTokens, most.reasoningTokens)
  const isInputTrue = totalInputTokens(reported) <= most.inputTokens
  const isOutputTrue = reported.outputTokens <= Math.max(most.outputTokens + reasoning, own.outputBytes)
  if (isInputTrue && isOutputTrue) return reported
  const input = isInputTrue ? reported : { inputTokens: own.inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const outputTokens = isOutputTrue ? reported.outputTokens : own.outputTokens
  return {
    inputTokens: input.inputTokens,
    cacheReadTokens: input.cacheReadTokens,
    cacheWriteTokens: input.cacheWriteTokens,
    outputTokens,
    reasoningTokens: Math.min(reported.reasoningTokens, outputTokens),
    source: 'estimated',
    reportedTokens: reported.reportedTokens ?? totalTokens(reported),
  }
}
