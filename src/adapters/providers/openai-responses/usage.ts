import { countOf, numberOf, recordOf } from '../reading.ts'
import type { ReportedUsage } from '../answering/usage.ts'

export function readUsage(value: unknown): ReportedUsage {
  const usage = recordOf(value)
  if (usage === undefined) return {}
  const input = recordOf(usage['input_tokens_details'])
  const output = recordOf(usage['output_tokens_details'])
  const total = numberOf(usage['input_tokens'])
  const cacheReadTokens = numberOf(input?.['cached_tokens']) ?? 0
  const cacheWriteTokens = numberOf(input?.['cache_write_tokens']) ?? 0
  const cached = (countOf(cacheReadTokens) ?? 0) + (countOf(cacheWriteTokens) ?? 0)
  return {
    // Here the total includes the cached tokens, and not every server's numbers add up.
    inputTokens: total === undefined ? undefined : Math.max(Math.min(0, total), total - cached),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: numberOf(usage['output_tokens']),
    reasoningTokens: numberOf(output?.['reasoning_tokens']),
  }
}
