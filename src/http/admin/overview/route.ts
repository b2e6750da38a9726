import type { Static } from 'typebox'
import { toUnixSeconds, type Clock } from '../../../base/clock.ts'
import { attentionOf, type AttentionItem } from '../../../domain/overview/attention.ts'
import { readSpend, readTrafficNow, type TrafficNow } from '../../../domain/overview/overview.ts'
import { readAttentionFacts, type AttentionStores } from '../../../domain/overview/read-attention.ts'
import { holds } from '../../../domain/identity/permissions.ts'
import { noBalance, type LedgerStore } from '../../../domain/credits/ledger-store.ts'
import type { LedgerReports } from '../../../domain/credits/reports.ts'
import type { Upstreams } from '../../../domain/inference/upstream-status.ts'
import type { TrafficStore } from '../../../domain/traffic/traffic.ts'
import type { InFlight } from '../../inference/in-flight.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads, HealthCheck } from '../routes.ts'
import { hasSystemAccess, type SystemVisibility } from '../system/authority.ts'
import { OverviewObject, type OverviewTick } from './schema.ts'

export type OverviewReads = AttentionStores & {
  readonly ledger: LedgerReports
  readonly traffic: Pick<TrafficStore, 'sums'>
}

type OverviewParts = SystemVisibility & {
  readonly balances: Pick<LedgerStore, 'balance'>
  readonly creditUsd: number
  readonly clock: Clock
  readonly hasJudge: boolean
  readonly inFlight: Pick<InFlight, 'count'>
  readonly readiness: readonly HealthCheck[]
  readonly upstreams: Pick<Upstreams, 'list' | 'listOwn'>
}

/** `/v1/organization/overview`: how the service does, what is spent, and what needs a person. */
export function overviewRoute({ read }: AdminReads<OverviewReads>, parts: OverviewParts): Route {
  const { clock, balances, creditUsd, hasJudge, inFlight, readiness } = parts
  return read({
    name: 'getOverview',
    path: '/v1/organization/overview',
    summary: 'Read the overview',
    description: 'How the service does now, what is spent, and what needs attention.',
    permission: 'audit:read',
    isReport: true,
    params: none,
    query: none,
    answer: { description: 'The overview.', schema: OverviewObject },
    async operation({ ledger, traffic, ...stores }, { actor }) {
      const { organization, permissions } = actor
      const { id, metered } = organization
      const nowMs = clock.nowMs()
      const balance = metered ? ((await balances.balance(id)) ?? noBalance) : undefined
      const [now, spend, facts, health] = await Promise.all([
        readTrafficNow(traffic, id, nowMs),
        readSpend(id, { ledger, balance, creditUsd, nowMs }),
        readAttentionFacts(stores, { organizationId: id, nowMs, hasJudge }),
        Promise.all(readiness.map(healthOf)),
      ])
      const shared = hasSystemAccess(actor, parts) ? parts.upstreams.list() : []
      const upstreams = [...shared, ...(await parts.upstreams.listOwn(id))]
      return {
        object: 'organization.overview' as const,
        now: presentNow(now, inFlight),
        spend: {
          today_usd: spend.todayUsd,
          month_usd: spend.monthUsd,
          balance_usd: spend.balanceUsd,
          days_left: spend.daysLeft,
        },
        health,
        attention: attentionOf({ ...facts, upstreams, spend }, (permission) => holds(permissions, permission)).map(
          presentItem,
        ),
      }
    },
  })
}

export const presentNow = (
  { requestsPerSecond, deniedShare, errorShare, p95Ms }: TrafficNow,
  inFlight: Pick<InFlight, 'count'>,
): Static<typeof OverviewTick> => ({
  requests_per_second: requestsPerSecond,
  in_flight: inFlight.count(),
  denied_share: deniedShare,
  error_share: errorShare,
  p95_ms: p95Ms,
})

type Overview = Static<typeof OverviewObject>

async function healthOf({ part, problem, isVital = () => true }: HealthCheck): Promise<Overview['health'][number]> {
  const message = await problem()
  if (message === undefined) return { part, state: 'ok', text: null }
  return { part, state: isVital() ? 'failing' : 'degraded', text: message }
}

const presentItem = ({ objectId, sinceMs, ...item }: AttentionItem): Overview['attention'][number] => ({
  ...item,
  object_id: objectId,
  since: sinceMs === null ? null : toUnixSeconds(sinceMs),
})
