import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { toChunks } from '../../../base/text-chunks.ts'
import { inCredits, inUsd } from '../../../domain/credits/formatting.ts'
import {
  readUsagePage,
  wholePeriodMs,
  type LedgerReports,
  type UsageQuery,
  type UsageRow,
} from '../../../domain/credits/reports.ts'
import { usageCursor } from './cursor.ts'
import type { UsageObject } from './schema.ts'

export type UsageInput = {
  /** The whole period. */
  readonly query: UsageQuery
  /** Where the page starts. */
  readonly pageFromMs: number
  readonly creditUsd: number
  readonly nowMs: number
}

/** Reads a page of usage and encodes it as a `UsageObject`. */
export async function encodeUsage(ledger: Pick<LedgerReports, 'usage'>, { query, ...input }: UsageInput) {
  const { rows, nextMs } = await readUsagePage(ledger, { ...query, fromMs: input.pageFromMs })
  const spanOf = ({ startMs }: UsageRow) =>
    query.bucketMs === wholePeriodMs ? times(query.fromMs, query.toMs) : times(startMs, startMs + query.bucketMs)
  const buckets = [...Map.groupBy(rows, ({ startMs }) => startMs).values()].map((results) => ({
    ...(results[0] && spanOf(results[0])),
    results: results.map((row) => presentRow(row, input.creditUsd)),
  }))
  const body = {
    object: 'organization.usage',
    ...times(query.fromMs, query.toMs),
    data: buckets,
    has_more: nextMs !== undefined,
    next_page: nextMs === undefined ? null : usageCursor(query, nextMs),
  }
  return toChunks(JSON.stringify(body))
}

const times = (startMs: number, endMs: number) => ({
  start_time: toUnixSeconds(startMs),
  end_time: toUnixSeconds(endMs),
})

type Result = Static<typeof UsageObject>['data'][number]['results'][number]

const presentRow = (row: UsageRow, creditUsd: number): Result => ({
  project_id: row.projectId,
  api_key_id: row.keyId,
  model: row.model,
  user_id: row.userId,
  requests: row.requests,
  input_tokens: row.inputTokens,
  cache_read_tokens: row.cacheReadTokens,
  cache_write_tokens: row.cacheWriteTokens,
  output_tokens: row.outputTokens,
  credits: inCredits(row.micro),
  cost_usd: inUsd(row.micro, creditUsd),
})
