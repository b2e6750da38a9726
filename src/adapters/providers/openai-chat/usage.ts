import { countOf, numberOf, recordOf } from '../reading.ts'
import type { ReportedUsage } from '../answering/usage.ts'

/** The last report counts; servers that report on each chunk send running totals. */
export function readUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = recordOf(value)
  if (usage === undefined) return before
  const input = recordOf(usage['prompt_tokens_details'])
  const output = recordOf(usage['completion_tokens_details'])
  const total = numberOf(usage['prompt_tokens'])
  const cacheReadTokens = numberOf(input?.['cached_tokens']) ?? numberOf(usage['prompt_cache_hit_tokens']) ?? 0
  const cacheWriteTokens = numberOf(input?.['cache_write_tokens']) ?? 0
  const cached = (countOf(cacheReadTokens) ?? 0) + (countOf(cacheWriteTokens) ?? 0)
  return {
    // Here the total includes the cached tokens, and not every server's numbers add up.
    inputTokens: total === undefined ? undefined : Math.max(Math.min(0, total), total - cached),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: numberOf(usage['completion_tokens']),
    reasoningTokens: numberOf(output?.['reasoning_tokens']),
  }
}
