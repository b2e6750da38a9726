import type { Static } from 'typebox'
import { dayMs, hourMs, type Clock } from '../../../base/clock.ts'
import { wholePeriodMs } from '../../../domain/credits/reports.ts'
import { EncodedBody } from '../../encoded-body.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import { none } from '../../resources/fields.ts'
import type { AdminReads } from '../routes.ts'
import { readUsageCursor, type UsagePeriod } from './cursor.ts'
import type { UsageInput } from './encode.ts'
import { UsageObject, UsageQuery } from './schema.ts'

export type UsageRouteParts = {
  readonly clock: Clock
  readonly creditUsd: number
  /** Runs `encodeUsage` in a thread of its own, because thousands of rows would delay requests. */
  readonly encode: (input: UsageInput) => Promise<readonly string[]>
}

const weekMs = 7 * dayMs
const buckets = {
  hour: { ms: hourMs, mostMs: 31 * dayMs },
  day: { ms: dayMs, mostMs: 366 * dayMs },
  total: { ms: wholePeriodMs, mostMs: 366 * dayMs },
} as const

export function usageRoutes(admin: AdminReads<object>, { clock, creditUsd, encode }: UsageRouteParts): Route[] {
  return [
    admin.read({
      name: 'getUsage',
      path: '/v1/organization/usage',
      summary: 'Read usage',
      description:
        'At most 31 days by hour, or 366 days otherwise. A page has all buckets until the day of its result number 10,000; get the next one with `page=next_page`. A period that starts or ends inside of a minute has the whole minute; the whole hour if it is more than 2 days ago or by user, and the whole day if it is more than 92 days ago. A day with more than 100,000 results is rejected.',
      permission: 'usage:read',
      isReport: true,
      params: none,
      query: UsageQuery,
      answer: { description: 'Requests, tokens and credits per time bucket.', schema: UsageObject },
      async operation(_reads, { actor, query }) {
        const nowMs = clock.nowMs()
        const { pageFromMs, ...period } =
          query.page === undefined ? firstPage(query, nowMs) : readUsageCursor(query.page)
        const bucketMs = bucketOf(query, period)
        const organizationId = actor.organization.id
        const chunks = await encode({
          query: { organizationId, ...period, bucketMs, groupBy: query.group_by },
          pageFromMs,
          creditUsd,
          nowMs,
        })
        return new EncodedBody(chunks)
      },
    }),
  ]
}

type Query = Static<typeof UsageQuery>

function firstPage({ start_time, end_time }: Query, nowMs: number) {
  const toMs = end_time === undefined ? nowMs : end_time * 1000
  const fromMs = start_time === undefined ? Math.max(0, toMs - weekMs) : start_time * 1000
  return { fromMs, toMs, pageFromMs: fromMs }
}

function bucketOf({ bucket }: Query, { fromMs, toMs }: UsagePeriod): number {
  const { ms, mostMs } = buckets[bucket]
  if (fromMs >= toMs) throw invalidField(['start_time'], 'must be before end_time')
  if (toMs - fromMs > mostMs)
    throw invalidField(['start_time'], `must be at most ${mostMs / dayMs} days before end_time`)
  return ms
}
