import type { Static } from 'typebox'
import { toUnixSeconds, type Clock } from '../../../base/clock.ts'
import { inUsd } from '../../../domain/credits/formatting.ts'
import type { LedgerReports } from '../../../domain/credits/reports.ts'
import { holds, type Permission } from '../../../domain/identity/permissions.ts'
import type { AttentionStores } from '../../../domain/overview/read-attention.ts'
import {
  fillSteps,
  periodBefore,
  readFigures,
  readSteps,
  type FigureStores,
  type PeriodFigures,
} from '../../../domain/overview/period.ts'
import { readPublications, type PublicationEvent } from '../../../domain/overview/publications.ts'
import { topDenials, topSpenders, type Ranked, type RankedRule } from '../../../domain/overview/rankings.ts'
import { failureCodes } from '../../../domain/rollup/failures.ts'
import { percentileRange } from '../../../domain/traffic/traffic.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { spanOf } from '../traffic/span.ts'
import { createNames, type NameStores, type Names } from './names.ts'
import { PeriodObject, PeriodQuery } from './period-schema.ts'

export type PeriodReads = FigureStores &
  Pick<AttentionStores, 'policies' | 'gateway' | 'events'> &
  NameStores & { readonly ledger: Pick<LedgerReports, 'usage'> }

type PeriodParts = { readonly clock: Clock; readonly creditUsd: number }

type Period = Static<typeof PeriodObject>

/** `/v1/organization/overview/period`: the figures of a period beside those of the period before, from the sums. */
export function periodRoute({ read }: AdminReads<PeriodReads>, { clock, creditUsd }: PeriodParts): Route {
  return read({
    name: 'getOverviewPeriod',
    path: '/v1/organization/overview/period',
    summary: 'Read the overview of a period',
    description:
      'What became of the requests of a period, compared with the period of the same length before it; what denied them, who spent, and what came into force. Errors of upstreams and of the service are apart from rate limits and from mistakes of callers.',
    permission: 'audit:read',
    isReport: true,
    params: none,
    query: PeriodQuery,
    answer: { description: 'The period.', schema: PeriodObject },
    async operation(reads, { actor, query }): Promise<Period> {
      const { id: organizationId } = actor.organization
      const mayRead = (permission: Permission): boolean => holds(actor.permissions, permission)
      const span = spanOf(query, clock.nowMs() / 1000)
      const period = { from: query.from ?? span.from, to: span.to }
      const inUnits = (micro: number): number => inUsd(micro, creditUsd)
      const names = createNames(reads, organizationId, mayRead)
      const [figures, before, steps, denials, spenders, publications] = await Promise.all([
        readFigures(reads, organizationId, period),
        readFigures(reads, organizationId, periodBefore(period)),
        readSteps(reads, organizationId, span),
        mayRead('policies:read') ? topDenials(reads, organizationId, period) : undefined,
        mayRead('usage:read') ? topSpenders(reads.ledger, organizationId, period) : undefined,
        readPublications(reads.events, organizationId, {
          ...period,
          hasPolicies: mayRead('policies:read'),
          hasGateway: mayRead('gateway:read'),
        }),
      ])
      const spent = (micro: number | undefined): number | null => (micro === undefined ? null : inUnits(micro))
      const presentSpender = async (ranked: Ranked) => ({
        id: ranked.id,
        name: await names.of(ranked.id),
        spent_usd: inUnits(ranked.figure),
        before_usd: inUnits(ranked.before),
      })
      return {
        object: 'organization.overview.period',
        ...period,
        step: query.step,
        figures: { ...presentFigures(figures), spent_usd: spent(spenders?.totalMicro) },
        before: { ...presentFigures(before), spent_usd: spent(spenders?.totalBeforeMicro) },
        failure_codes: [...failureCodes],
        steps: fillSteps(steps, span).map(({ startTime, costMicroUsd, ...step }) => ({
          start_time: startTime,
          ...presentFigures({ ...step, costMicroUsd }),
          cost_usd: costMicroUsd / microPerUsd,
        })),
        denied_by: denials?.map(presentDenial) ?? null,
        spending_projects: spenders ? await Promise.all(spenders.projects.map(presentSpender)) : null,
        spending_keys: spenders ? await Promise.all(spenders.keys.map(presentSpender)) : null,
        publications: await Promise.all(publications.map((each) => presentPublication(each, names))),
      }
    },
  })
}

const microPerUsd = 1_000_000

function presentFigures({ requests, denied, failed, rateLimited, otherErrors, latency }: PeriodFigures) {
  const p95 = percentileRange(latency, 0.95)
  return {
    requests,
    denied,
    failed,
    rate_limited: rateLimited,
    other_errors: otherErrors,
    p95: p95 && { from_ms: p95.fromMs, to_ms: p95.toMs, estimate_ms: p95.estimateMs },
  }
}

const presentDenial = ({ check, id, name, figure, before }: RankedRule) => ({
  check,
  policy_id: id,
  name,
  denied: figure,
  before,
})

const presentPublication = async ({ atMs, policyId, version, actorId, eventId }: PublicationEvent, names: Names) => ({
  at: toUnixSeconds(atMs),
  policy_id: policyId,
  name: policyId === null ? null : await names.of(policyId),
  version,
  actor: actorId === null ? null : { id: actorId, name: await names.of(actorId) },
  event_id: eventId,
})
