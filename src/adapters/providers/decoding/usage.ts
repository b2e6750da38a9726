import type { Usage } from '../../../domain/inference/events.ts'
import { asCount } from '../json-values.ts'

/** The usage that an upstream reported. Values may be implausible; fields that it did not report are undefined. */
export type ReportedUsage = {
  readonly inputTokens?: number | undefined
  readonly cacheReadTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** Estimates how many tokens a text has, by its length in UTF-8. */
export type EstimateTokens = (byteCount: number) => number

/** The gateway's estimates, computed only if needed. */
export type UsageEstimate = { readonly input: () => number; readonly output: () => number }

/** Fills in missing counts from estimates. */
export function completeUsage(reported: ReportedUsage, estimate: UsageEstimate): Usage {
  const counts = countsOf(reported)
  const areValid = fields.every((field) => reported[field] === undefined || counts[field] !== undefined)
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = counts
  // Every prompt has tokens. Servers that do not count send zero.
  const hasInput = (counts.inputTokens ?? 0) + cacheReadTokens + cacheWriteTokens > 0
  const hasOutput = counts.outputTokens !== undefined
  return {
    inputTokens: hasInput ? (counts.inputTokens ?? 0) : estimate.input(),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: counts.outputTokens ?? estimate.output(),
    reasoningTokens,
    source: hasInput && hasOutput && areValid ? 'reported' : 'estimated',
    ...(areValid ? undefined : { reportedTokens: reportedTotal(reported) }),
  }
}

/** Replaces values that cannot be token counts, such as negative ones, with undefined. */
export const countsOf = (reported: ReportedUsage): ReportedUsage => ({
  inputTokens: asCount(reported.inputTokens),
  cacheReadTokens: asCount(reported.cacheReadTokens),
  cacheWriteTokens: asCount(reported.cacheWriteTokens),
  outputTokens: asCount(reported.outputTokens),
  reasoningTokens: asCount(reported.reasoningTokens),
})

const fields = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const

/** A safe integer, because the receipt stores integers only. */
function reportedTotal({
  inputTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
  outputTokens = 0,
}: ReportedUsage) {
  const total = Math.trunc(inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens)
  const max = Number.MAX_SAFE_INTEGER
  return Number.isNaN(total) ? 0 : Math.max(-max, Math.min(max, total))
}
