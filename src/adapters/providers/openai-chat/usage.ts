import { countOf, recordOf } from '../reading.ts'
import type { ReportedUsage } from '../answering/usage.ts'

/** The last report counts; servers that report on each chunk send running totals. */
export function readUsage(before: ReportedUsage, value: unknown): ReportedUsage {
  const usage = recordOf(value)
  if (usage === undefined) return before
  const input = recordOf(usage['prompt_tokens_details'])
  const output = recordOf(usage['completion_tokens_details'])
  const total = countOf(usage['prompt_tokens'])
  const cacheReadTokens = countOf(input?.['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']) ?? 0
  const cacheWriteTokens = countOf(input?.['cache_write_tokens']) ?? 0
  return {
    // Here the total includes the cached tokens, and not every server's numbers add up.
    inputTokens: total === undefined ? undefined : Math.max(0, total - cacheReadTokens - cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: countOf(usage['completion_tokens']),
    reasoningTokens: countOf(output?.['reasoning_tokens']),
  }
}
