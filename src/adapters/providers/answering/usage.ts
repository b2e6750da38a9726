import type { Usage } from '../../../domain/inference/events.ts'

/** What an upstream said about its use; what it did not say is left out. */
export type ReportedUsage = {
  readonly inputTokens?: number | undefined
  readonly cacheReadTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

export type EstimateTokens = (text: string) => number

/** Counts of our own, worked out only where they are needed. */
export type UsageEstimate = { readonly input: () => number; readonly output: () => number }

/** Fills in what the upstream left out, from the text that went in and came out. */
export function completeUsage(reported: ReportedUsage, estimate: UsageEstimate): Usage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = reported
  // No prompt has no tokens: some servers send zeros where they do not count.
  const saysInput = (reported.inputTokens ?? 0) + cacheReadTokens + cacheWriteTokens > 0
  const saysOutput = reported.outputTokens !== undefined
  return {
    inputTokens: saysInput ? (reported.inputTokens ?? 0) : estimate.input(),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: reported.outputTokens ?? estimate.output(),
    reasoningTokens,
    source: saysInput && saysOutput ? 'reported' : 'estimated',
  }
}
