import { countOf, recordOf } from '../reading.ts'
import type { ReportedUsage } from '../answering/usage.ts'

export function readUsage(value: unknown): ReportedUsage {
  const usage = recordOf(value)
  if (usage === undefined) return {}
  const input = recordOf(usage['input_tokens_details'])
  const output = recordOf(usage['output_tokens_details'])
  const total = countOf(usage['input_tokens'])
  const cacheReadTokens = countOf(input?.['cached_tokens']) ?? 0
  const cacheWriteTokens = countOf(input?.['cache_write_tokens']) ?? 0
  return {
    // Here the total includes the cached tokens, and not every server's numbers add up.
    inputTokens: total === undefined ? undefined : Math.max(0, total - cacheReadTokens - cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: countOf(usage['output_tokens']),
    reasoningTokens: countOf(output?.['reasoning_tokens']),
  }
}
