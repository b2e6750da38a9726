import { asCount, numberOf, asRecord } from '../json-values.ts'
import type { ReportedUsage } from '../decoding/usage.ts'

/** The last report counts; servers that report on each chunk send running totals. */
export function readChatUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = asRecord(value)
  if (usage === undefined) return before
  const input = asRecord(usage['prompt_tokens_details'])
  const output = asRecord(usage['completion_tokens_details'])
  const total = numberOf(usage['prompt_tokens'])
  const cacheReadTokens = numberOf(input?.['cached_tokens']) ?? numberOf(usage['prompt_cache_hit_tokens']) ?? 0
  const cacheWriteTokens = numberOf(input?.['cache_write_tokens']) ?? 0
  const cached = (asCount(cacheReadTokens) ?? 0) + (asCount(cacheWriteTokens) ?? 0)
  return {
    // Here the total includes the cached tokens, and not every server's numbers add up.
    inputTokens: total === undefined ? undefined : Math.max(Math.min(0, total), total - cached),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: numberOf(usage['completion_tokens']),
    reasoningTokens: numberOf(output?.['reasoning_tokens']),
  }
}
