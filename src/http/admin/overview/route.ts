import type { Static } from 'typebox'
import { toUnixSeconds, type Clock } from '../../../base/clock.ts'
import { attentionOf, type AttentionItem } from '../../../domain/overview/attention.ts'
import { readSpend, readTrafficNow, type TrafficNow } from '../../../domain/overview/overview.ts'
import { readAttentionFacts, type AttentionStores } from '../../../domain/overview/read-attention.ts'
import type { FirstStepReader, FirstSteps, FirstStepStores } from '../../../domain/overview/first-steps.ts'
import type { KeyUse } from '../../../domain/overview/key-use.ts'
import type { WatchedSink } from '../../../domain/audit/export/export-sink.ts'
import { holds, type Permission } from '../../../domain/identity/permissions.ts'
import type { Organization } from '../../../domain/identity/principal.ts'
import { noBalance, type LedgerStore } from '../../../domain/credits/ledger-store.ts'
import type { LedgerReports } from '../../../domain/credits/reports.ts'
import type { Upstreams, UpstreamStatus } from '../../../domain/inference/upstream-status.ts'
import type { TrafficStore } from '../../../domain/traffic/traffic.ts'
import type { InFlight } from '../../inference/in-flight.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads, HealthCheck } from '../routes.ts'
import { hasSystemAccess, type SystemVisibility } from '../system/authority.ts'
import { OverviewObject, type OverviewTick } from './schema.ts'

export type OverviewReads = AttentionStores & {
  readonly events: FirstStepStores['events']
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
  readonly readFirstSteps: FirstStepReader
  readonly readKeyUse: (organization: Organization) => Promise<readonly KeyUse[]>
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
      const mayRead = (permission: Permission): boolean => holds(permissions, permission)
      const [now, spend, facts, health, keyUse, firstSteps] = await Promise.all([
        readTrafficNow(traffic, id, nowMs),
        readSpend(id, { ledger, balance, creditUsd, nowMs }),
        readAttentionFacts(stores, { organizationId: id, nowMs, hasJudge }),
        Promise.all(readiness.map(healthOf)),
        parts.readKeyUse(organization),
        parts.readFirstSteps(stores, id),
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
        upstreams: mayRead('system:read') ? upstreams.map(presentUpstream) : [],
        sinks: mayRead('exports:read') ? facts.sinks.map(presentSink) : [],
        attention: attentionOf({ ...facts, keyUse, upstreams, spend }, mayRead).map(presentItem),
        first_steps: firstSteps ? presentFirstSteps(firstSteps) : null,
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

const presentUpstream = (upstream: UpstreamStatus): Overview['upstreams'][number] => ({
  name: upstream.name,
  state: upstream.state,
  in_flight: upstream.inFlight,
  p95_ms: upstream.p95Ms === null ? null : Math.round(upstream.p95Ms),
  last_error: upstream.lastError?.code ?? null,
  skipped_seconds: Math.ceil(upstream.cooldownLeftMs / 1000),
})

const presentSink = ({ id, label, health }: WatchedSink): Overview['sinks'][number] => ({
  id,
  name: label,
  state: health.state,
  waiting_events: health.backlogEvents,
  last_error: health.lastError,
})

const presentFirstSteps = (steps: FirstSteps): NonNullable<Overview['first_steps']> => ({
  request_id: steps.requestId,
  has_policy: steps.hasPolicy,
  has_model: steps.hasModel,
})

const presentItem = ({ objectId, sinceMs, ...item }: AttentionItem): Overview['attention'][number] => ({
  ...item,
  object_id: objectId,
  since: sinceMs === null ? null : toUnixSeconds(sinceMs),
})
