import type { Usage } from '../../../domain/inference/events.ts'
import type { JsonRecord } from '../json-values.ts'
import { numberOf, asRecord } from '../json-values.ts'
import { countsOf, type ReportedUsage } from '../decoding/usage.ts'

/** Counts are running totals: a later report replaces the numbers that it names and leaves the others. */
export function readMessagesUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = asRecord(value)
  if (usage === undefined) return before
  return {
    // Here, unlike elsewhere, input leaves the cached tokens out already.
    inputTokens: numberOf(usage['input_tokens']) ?? before.inputTokens,
    cacheReadTokens: numberOf(usage['cache_read_input_tokens']) ?? before.cacheReadTokens,
    cacheWriteTokens: numberOf(usage['cache_creation_input_tokens']) ?? before.cacheWriteTokens,
    outputTokens: numberOf(usage['output_tokens']) ?? before.outputTokens,
    reasoningTokens: thinkingTokens(usage) ?? before.reasoningTokens,
  }
}

const thinkingTokens = (usage: JsonRecord): number | undefined =>
  numberOf(asRecord(usage['output_tokens_details'])?.['thinking_tokens'])

/** What is known when the answer begins; undefined where nothing is. */
export function usageAtStart(said: ReportedUsage): Usage | undefined {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = countsOf(said)
  if (inputTokens + cacheReadTokens + cacheWriteTokens === 0) return undefined
  return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens: 0, reasoningTokens: 0, source: 'reported' }
}
