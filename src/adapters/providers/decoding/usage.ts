import type { Usage } from '../../../domain/inference/events.ts'
import { asCount } from '../json-values.ts'

/** What an upstream said about its use, be it counts or not; what it did not say is left out. */
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
export function completeUsage(said: ReportedUsage, estimate: UsageEstimate): Usage {
  const reported = countsOf(said)
  const areCounts = fields.every((field) => said[field] === undefined || reported[field] !== undefined)
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
    source: saysInput && saysOutput && areCounts ? 'reported' : 'estimated',
    ...(areCounts ? undefined : { reportedTokens: reportedTotal(said) }),
  }
}

/** Without the numbers that cannot be counts. */
export const countsOf = (said: ReportedUsage): ReportedUsage => ({
  inputTokens: asCount(said.inputTokens),
  cacheReadTokens: asCount(said.cacheReadTokens),
  cacheWriteTokens: asCount(said.cacheWriteTokens),
  outputTokens: asCount(said.outputTokens),
  reasoningTokens: asCount(said.reasoningTokens),
})

const fields = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const

/** For the receipt, which holds whole numbers only. */
function reportedTotal({
  inputTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
  outputTokens = 0,
}: ReportedUsage) {
  const total = Math.trunc(inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens)
  const most = Number.MAX_SAFE_INTEGER
  return Number.isNaN(total) ? 0 : Math.max(-most, Math.min(most, total))
}
