import { totalInputTokens, totalTokens, type Usage } from './events.ts'
import type { Model } from './catalogue.ts'
import type { InferenceRequest } from './request.ts'

/** Upper bounds for the usage of one request. */
export type UsageBounds = {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Allowed on top of `outputTokens`, because some upstreams do not count reasoning against the output limit. */
  readonly reasoningTokens: number
}

/** The gateway's own count. `outputBytes` is the size of the received output; a token has at least one byte. */
export type GatewayCount = { readonly inputTokens: number; readonly outputTokens: number; readonly outputBytes: number }

export type SentRequest = {
  readonly model: Pick<Model, 'contextTokens' | 'maxOutputTokens'>
  readonly request: Pick<InferenceRequest, 'tools'>
  readonly expected: Usage
  readonly maxOutputTokens: number
}

/** The estimate is bytes / 3.5, and no tokenizer produces more than one token per byte. */
const maxTokensPerEstimated = 4
/** Margins for text that an upstream adds to the prompt, and for output limits that it rounds up. */
const addedInputTokens = 8_192
const addedOutputTokens = 1_024
/** An upstream that runs tools itself processes the context again after each tool call. */
const maxHostedRounds = 16

export function usageBounds({ model, request, expected, maxOutputTokens }: SentRequest): UsageBounds {
  const sent = expected.inputTokens * maxTokensPerEstimated + addedInputTokens
  const runsTools = request.tools.some(({ type }) => type !== 'function')
  return {
    inputTokens: Math.max(model.contextTokens, sent) * (runsTools ? maxHostedRounds : 1),
    outputTokens: 2 * Math.min(maxOutputTokens, model.contextTokens) + addedOutputTokens,
    reasoningTokens: model.maxOutputTokens,
  }
}

/**
 * Returns the reported usage unchanged if it is within the bounds. Otherwise the implausible side (input or output) is
 * replaced by the gateway's own count, and `reportedTokens` keeps the reported total.
 */
export function plausibleUsage(reported: Usage, bounds: UsageBounds, own: GatewayCount): Usage {
  const reasoning = Math.min(reported.reasoningTokens, bounds.reasoningTokens)
  const isInputPlausible = totalInputTokens(reported) <= bounds.inputTokens
  const isOutputPlausible = reported.outputTokens <= Math.max(bounds.outputTokens + reasoning, own.outputBytes)
  if (isInputPlausible && isOutputPlausible) return reported
  const input = isInputPlausible ? reported : { inputTokens: own.inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const outputTokens = isOutputPlausible ? reported.outputTokens : own.outputTokens
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
