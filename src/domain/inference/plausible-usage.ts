import { totalInputTokens, totalTokens, type Usage } from './events.ts'
import type { Model } from './catalogue.ts'
import type { OutputLimit } from './output-limit.ts'
import type { ModelRequest } from './request.ts'

/** Upper bounds for the usage of one request. */
export type UsageBounds = {
  readonly inputTokens: number
  readonly outputTokens: number
  /** The output that the request has credits on hold for. The gateway's own count is never above it, so it makes no debt. */
  readonly heldOutputTokens: number
  /** Allowed on top of `outputTokens`, because some upstreams do not count reasoning against the output limit. */
  readonly reasoningTokens: number
}

/** The gateway's own count. */
export type GatewayCount = { readonly inputTokens: number; readonly outputTokens: number }

export type SentRequest = {
  readonly model: Pick<Model, 'contextTokens' | 'maxOutputTokens'>
  readonly request: Pick<ModelRequest, 'tools'>
  readonly expected: Usage
  readonly outputLimit: OutputLimit
}

/** The estimate is bytes / 3.5, and no tokenizer produces more than one token per byte. */
const maxTokensPerEstimated = 4
/** Margins for text that an upstream adds to the prompt, and for output limits that it rounds up. */
const addedInputTokens = 8_192
const addedOutputTokens = 1_024
/** An upstream that runs tools itself processes the context again after each tool call. */
const maxHostedRounds = 16

export function usageBounds({ model, request, expected, outputLimit }: SentRequest): UsageBounds {
  const sent = expected.inputTokens * maxTokensPerEstimated + addedInputTokens
  const heldOutputTokens = outputLimit.isExplicit
    ? Math.min(outputLimit.tokens, model.contextTokens)
    : model.contextTokens
  const runsTools = request.tools?.some(({ type }) => type !== 'function') === true
  return {
    inputTokens: Math.max(model.contextTokens, sent) * (runsTools ? maxHostedRounds : 1),
    outputTokens: 2 * heldOutputTokens + addedOutputTokens,
    heldOutputTokens,
    reasoningTokens: model.maxOutputTokens,
  }
}

/**
 * Returns the reported usage unchanged if it is within the bounds. Otherwise the implausible side (input or output) is
 * replaced by the gateway's own count, and `reportedTokens` keeps the reported total. The length of the received text is no
 * reason to believe a report: an upstream that ignores the output limit would then decide what a caller pays.
 */
export function plausibleUsage(reported: Usage, bounds: UsageBounds, own: GatewayCount): Usage {
  const reasoning = Math.min(reported.reasoningTokens, bounds.reasoningTokens)
  const isInputPlausible = totalInputTokens(reported) <= bounds.inputTokens
  const isOutputPlausible = reported.outputTokens <= bounds.outputTokens + reasoning
  const isOwnOutput = reported.source === 'estimated' || !isOutputPlausible
  const counted = isOutputPlausible ? reported.outputTokens : own.outputTokens
  const outputTokens = isOwnOutput ? Math.min(counted, bounds.heldOutputTokens) : counted
  if (isInputPlausible && isOutputPlausible) return withOutput(reported, outputTokens)
  const input = isInputPlausible ? reported : { inputTokens: own.inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
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

const withOutput = (usage: Usage, outputTokens: number): Usage =>
  outputTokens === usage.outputTokens
    ? usage
    : { ...usage, outputTokens, reasoningTokens: Math.min(usage.reasoningTokens, outputTokens) }
