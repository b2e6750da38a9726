import type { Static } from 'typebox'
import { dayMs, hourMs, type Clock, toUnixSeconds } from '../../../base/clock.ts'
import type { Pace } from '../../../base/pace.ts'
import { JsonText } from '../../json-text.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import { none } from '../../resources/fields.ts'
import type { AdminReads } from '../routes.ts'
import { UsageObject, UsageQuery } from './schema.ts'
import {
  readUsage,
  type LedgerReports,
  type UsageQuery as UsageSpan,
  type UsageRow,
} from '../../../domain/credits/reports.ts'
import { inCredits, inUsd } from '../../../domain/credits/formatting.ts'

export type UsageRouteParts = { readonly clock: Clock; readonly creditUsd: number; readonly pace: Pace }

const weekMs = 7 * dayMs
const buckets = { hour: { ms: hourMs, mostMs: 31 * dayMs }, day: { ms: dayMs, mostMs: 366 * dayMs } } as const

export function usageRoutes(
  admin: AdminReads<{ readonly ledger: LedgerReports }>,
  { clock, creditUsd, pace }: UsageRouteParts,
): Route[] {
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
        const printer = createPrinter(usageQuery, creditUsd)
        for await (const rows of readUsage(ledger, usageQuery))
          for (let at = 0; at < rows.length; at += printedRows)
            await pace.run(async () => printer.add(rows.slice(at, at + printedRows)))
        return printer.end()
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

/** Rows that are printed in one step: about two milliseconds. */
const printedRows = 1_000

/** Prints a `UsageObject` in steps, because all at once would delay requests. Rows must be in the order of their buckets. */
function createPrinter({ fromMs, toMs, bucketMs }: UsageSpan, creditUsd: number) {
  const times = (startMs: number, endMs: number): string =>
    `"start_time":${toUnixSeconds(startMs)},"end_time":${toUnixSeconds(endMs)}`
  const texts = [`{"object":"organization.usage",${times(fromMs, toMs)},"data":[`]
  let bucket: number | undefined

  function beginBucket(startMs: number): string {
    const before = bucket === undefined ? '' : ']},'
    bucket = startMs
    return `${before}{${times(startMs, startMs + bucketMs)},"results":[`
  }

  return {
    add(rows: readonly UsageRow[]): void {
      const printed = rows.map((row) => {
        const before = row.startMs === bucket ? ',' : beginBucket(row.startMs)
        return before + JSON.stringify(presentRow(row, creditUsd))
      })
      texts.push(printed.join(''))
    },
    end: (): JsonText => new JsonText(`${texts.join('')}${bucket === undefined ? '' : ']}'}]}`),
  }
}

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

type Result = Static<typeof UsageObject>['data'][number]['results'][number]
