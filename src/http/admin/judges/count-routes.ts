import { dayMs, toUnixSeconds, type Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import { sumOf, type JudgeCounts, type ReviewedDifference } from '../../../domain/judges/counts.ts'
import { fileJudgeId } from '../../../domain/judges/judge.ts'
import { findJudge } from '../../../domain/judges/mutations.ts'
import { pageOf } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import * as Schema from './counts-schema.ts'
import type { JudgeReads } from './present.ts'
import { judgeAt, judgePath } from './paths.ts'
import { JudgeParams } from './schema.ts'

/** Versions begin with 1. */
const noVersion = 0

type CountRouteParts = { readonly clock: Clock; readonly hasFileJudge: boolean }

/** What judges were asked, what it cost, and where a shadow differs from the active judge. */
export function judgeCountRoutes({ read }: AdminReads<JudgeReads>, { clock, hasFileJudge }: CountRouteParts): Route[] {
  return [
    read({
      name: 'getJudgeComparison',
      path: `${judgePath}/comparison`,
      summary: 'Compare a shadow with the active judge',
      description:
        'Where the two differ, the request and its event are named, and the appeal in which people review the text. Texts are not stored again.',
      permission: 'judges:read',
      params: JudgeParams,
      query: Schema.ComparisonQuery,
      answer: { description: 'The comparison.', schema: Schema.ComparisonObject },
      async operation(stores, { actor, params, query }): Promise<Schema.ComparisonBody> {
        const at = judgeAt(actor, params)
        if (at.id === fileJudgeId && !hasFileJudge) throw noFileJudge()
        const shadowVersion = at.id === fileJudgeId ? null : (await findJudge(stores.judges, at)).shadowVersion
        const of = { organizationId: at.organizationId, judgeId: at.id }
        const days = await stores.judgeCounts.daysOfJudge(of, 0)
        const compared = days.findLast((day) => day.compared > 0)?.version
        const version = shadowVersion ?? compared ?? null
        const counts = sumOf(days.filter((day) => day.version === version))
        const page = await stores.judgeCounts.differences({ ...of, version: version ?? noVersion }, pageOf(query))
        const ids = page.items.map(({ requestId }) => requestId)
        const events = await stores.judgeCounts.eventsOf(at.organizationId, ids)
        return {
          object: 'organization.judge.comparison',
          judge_id: at.id,
          version,
          compared: counts.compared,
          agreed: counts.compared - counts.differed,
          differed: counts.differed,
          differences: page.items.map((each) => ({
            id: each.id,
            policy_id: each.policyId,
            request_id: each.requestId,
            event_id: events.get(each.requestId) ?? null,
            active_bp: each.activeScore,
            shadow_bp: each.shadowScore,
            ...reviewBody(each),
            created_at: toUnixSeconds(each.atMs),
          })),
          has_more: page.hasMore,
        }
      },
    }),
    read({
      name: 'getJudgeCosts',
      path: `${judgePath}/costs`,
      summary: 'Read the costs of a judge',
      description: 'What it was asked and what that cost, by policy and by day, with calibrations and nightly checks.',
      permission: 'judges:read',
      params: JudgeParams,
      query: Schema.CostsQuery,
      answer: { description: 'The costs.', schema: Schema.CostsObject },
      async operation(stores, { actor, params, query }): Promise<Schema.CostsBody> {
        const at = judgeAt(actor, params)
        if (at.id !== fileJudgeId) await findJudge(stores.judges, at)
        else if (!hasFileJudge) throw noFileJudge()
        const from = Math.floor(clock.nowMs() / dayMs) - query.days + 1
        const of = { organizationId: at.organizationId, judgeId: at.id }
        const days = await stores.judgeCounts.daysOfJudge(of, from)
        return {
          object: 'organization.judge.costs',
          judge_id: at.id,
          total: costsBody(sumOf(days)),
          days: [...Map.groupBy(days, ({ day }) => day)].map(([day, ofDay]) => ({
            date: new Date(day * dayMs).toISOString().slice(0, 10),
            ...costsBody(sumOf(ofDay)),
          })),
          policies: [...Map.groupBy(days, ({ policyId }) => policyId)]
            .map(([policyId, ofPolicy]) => ({
              policy_id: policyId === '' ? null : policyId,
              ...costsBody(sumOf(ofPolicy)),
            }))
            .toSorted((one, other) => other.usd - one.usd),
        }
      },
    }),
  ]
}

const reviewBody = ({ review }: ReviewedDifference) => ({
  appeal_id: review !== undefined && 'appealId' in review ? review.appealId : null,
  not_reviewed: review !== undefined && 'notReviewed' in review ? review.notReviewed : null,
})

/** Sums of prices in binary fractions have digits that mean nothing. */
const costsBody = ({ asked, remembered, skipped, failed, usd }: JudgeCounts) => ({
  asked,
  remembered,
  skipped,
  failed,
  usd: Math.round(usd * 1_000_000) / 1_000_000,
})

const noFileJudge = (): Fault => new Fault('not_found', 'not_found', 'There is no judge in the configuration.')
