import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { UsageQuery, UsageRow } from '../../../domain/credits/reports.ts'
import { inCredits, inUsd } from '../../../domain/credits/formatting.ts'
import type { UsageObject } from './schema.ts'

export function presentUsage(
  { fromMs, toMs, bucketMs }: UsageQuery,
  rows: readonly UsageRow[],
  creditUsd: number,
): Static<typeof UsageObject> {
  const stretches = Map.groupBy(rows, ({ startMs }) => startMs)
  return {
    object: 'organization.usage',
    start_time: toUnixSeconds(fromMs),
    end_time: toUnixSeconds(toMs),
    data: Array.from(stretches, ([startMs, inside]) => ({
      start_time: toUnixSeconds(startMs),
      end_time: toUnixSeconds(startMs + bucketMs),
      results: inside.map((row) => presentRow(row, creditUsd)),
    })),
  }
}

const presentRow = (row: UsageRow, creditUsd: number) => ({
  project_id: row.projectId,
  api_key_id: row.keyId,
  model: row.model,
  requests: row.requests,
  input_tokens: row.inputTokens,
  cache_read_tokens: row.cacheReadTokens,
  cache_write_tokens: row.cacheWriteTokens,
  output_tokens: row.outputTokens,
  credits: inCredits(row.micro),
  cost_usd: inUsd(row.micro, creditUsd),
})
