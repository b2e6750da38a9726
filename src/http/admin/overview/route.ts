import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { attentionOf, type AttentionItem } from '../../../domain/overview/attention.ts'
import { readSpend, readTrafficNow, type TrafficNow } from '../../../domain/overview/overview.ts'
import { readAttentionFacts } from '../../../domain/overview/read-attention.ts'
import { holds } from '../../../domain/identity/permissions.ts'
import { noBalance } from '../../../domain/credits/ledger-store.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminParts, AdminRoutes, HealthCheck } from '../parts.ts'
import { hasSystemAccess } from '../system/authority.ts'
import { OverviewObject, type OverviewTick } from './schema.ts'

type OverviewParts = Pick<
  AdminParts,
  'balances' | 'creditUsd' | 'clock' | 'features' | 'inFlight' | 'readiness' | 'upstreams' | 'isSystemVisible'
>

/** `/v1/organization/overview`: how the service does, what is spent, and what needs a person. */
export function overviewRoute({ read }: AdminRoutes, parts: OverviewParts): Route {
  const { clock, balances, creditUsd, features, inFlight, readiness } = parts
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
        readAttentionFacts(stores, { organizationId: id, nowMs, hasJudge: features.judge }),
        Promise.all(readiness.map(healthOf)),
      ])
      const upstreams = hasSystemAccess(actor, parts) ? parts.upstreams.list() : []
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
  inFlight: AdminParts['inFlight'],
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
