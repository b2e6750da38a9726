import type { Static } from 'typebox'
import { dayMs, hourMs, type Clock, toUnixSeconds } from '../../../base/clock.ts'
import type { Pace } from '../../../base/pace.ts'
import { JsonText } from '../../json-text.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import { none } from '../../resources/fields.ts'
import type { AdminRoutes } from '../parts.ts'
import { UsageObject, UsageQuery } from './schema.ts'
import { readUsage, type UsageQuery as UsageSpan, type UsageRow } from '../../../domain/credits/reports.ts'
import { inCredits, inUsd } from '../../../domain/credits/formatting.ts'

export type UsageRouteParts = { readonly clock: Clock; readonly creditUsd: number; readonly pace: Pace }

const weekMs = 7 * dayMs
const buckets = { hour: { ms: hourMs, mostMs: 31 * dayMs }, day: { ms: dayMs, mostMs: 366 * dayMs } } as const

export function usageRoutes(admin: AdminRoutes, { clock, creditUsd, pace }: UsageRouteParts): Route[] {
  return [
    admin.read({
      name: 'getUsage',
      path: '/v1/organization/usage',
      summary: 'Read usage',
      description:
        'At most 31 days by hour, or 366 days by day. A period that starts or ends inside of a minute has the whole minute; the whole hour if it is more than 2 days ago or by user, and the whole day if it is more than 92 days ago. A period with more than 100,000 rows is rejected.',
      permission: 'usage:read',
      isReport: true,
      params: none,
      query: UsageQuery,
      answer: { description: 'Requests, tokens and credits per time bucket.', schema: UsageObject },
      async operation({ ledger }, { actor, query }) {
        const usageQuery = {
          organizationId: actor.organization.id,
          ...spanOf(query, clock.nowMs()),
          groupBy: query.group_by,
        }
        const slices: string[] = []
        for await (const rows of readUsage(ledger, usageQuery))
          slices.push(await pace.run(async () => printBuckets(rows, usageQuery.bucketMs, creditUsd)))
        return printUsage(usageQuery, slices)
      },
    }),
  ]
}

function spanOf({ start_time, end_time, bucket }: Static<typeof UsageQuery>, nowMs: number) {
  const toMs = end_time === undefined ? nowMs : end_time * 1000
  const fromMs = start_time === undefined ? Math.max(0, toMs - weekMs) : start_time * 1000
  const { ms, mostMs } = buckets[bucket]
  if (fromMs >= toMs) throw invalidField(['start_time'], 'must be before end_time')
  if (toMs - fromMs > mostMs)
    throw invalidField(['start_time'], `must be at most ${mostMs / dayMs} days before end_time`)
  return { fromMs, toMs, bucketMs: ms }
}

/** The text of a `UsageObject`. Its buckets are printed in slices, because all at once would delay requests. */
const printUsage = ({ fromMs, toMs }: UsageSpan, slices: readonly string[]): JsonText =>
  new JsonText(
    `{"object":"organization.usage","start_time":${toUnixSeconds(fromMs)},"end_time":${toUnixSeconds(toMs)},"data":[${slices.join(',')}]}`,
  )

/** Some members of `data`. */
const printBuckets = (rows: readonly UsageRow[], bucketMs: number, creditUsd: number): string =>
  Array.from(
    Map.groupBy(rows, ({ startMs }) => startMs),
    ([startMs, bucketRows]) =>
      JSON.stringify({
        start_time: toUnixSeconds(startMs),
        end_time: toUnixSeconds(startMs + bucketMs),
        results: bucketRows.map((row) => presentRow(row, creditUsd)),
      } satisfies Bucket),
  ).join(',')

type Bucket = Static<typeof UsageObject>['data'][number]

const presentRow = (row: UsageRow, creditUsd: number) => ({
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
