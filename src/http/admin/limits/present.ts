import type { Static } from 'typebox'
import { inCredits } from '../../../domain/credits/formatting.ts'
import type { Organization } from '../../../domain/identity/principal.ts'
import { metrics, limitScopes } from '../../../domain/limits/scopes.ts'
import type { WindowUsage, ScopeStatus, LimitStatus } from '../../../domain/limits/status.ts'
import { tierOf } from '../../../domain/limits/tiers.ts'
import type { PreflightResult } from '../../../pipeline/billing/preflight.ts'
import type { CheckObject, LimitsObject } from './schema.ts'

const microUsdPerUsd = 1_000_000

export const presentLimits = (organization: Organization, standing: LimitStatus): Static<typeof LimitsObject> => ({
  object: 'organization.limits',
  tier: tierOf(organization),
  plan: organization.plan,
  lifetime_paid_usd: organization.lifetimePaidMicroUsd / microUsdPerUsd,
  scopes: presentStanding(standing),
})

export function presentCheck({ admission: verdict, tokens, micro }: PreflightResult): Static<typeof CheckObject> {
  const refusal = verdict.admitted ? null : verdict
  const waitMs = refusal?.retryAfterMs ?? null
  return {
    object: 'organization.limits.check',
    would_pass: verdict.admitted,
    reason: refusal?.reason ?? null,
    scope: refusal?.scope ?? null,
    retry_after_seconds: waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000)),
    holds: { tokens, credits: inCredits(micro) },
    closest: closestOf(verdict.limitStatus),
    scopes: presentStanding(verdict.limitStatus),
  }
}

const presentStanding = (standing: LimitStatus) => ({
  key: presentScope(standing.key),
  project: presentScope(standing.project),
  organization: presentScope(standing.organization),
})

const presentScope = (scope: ScopeStatus) => ({
  rpm: presentGauge(scope.rpm),
  rpd: presentGauge(scope.rpd),
  tpm: presentGauge(scope.tpm),
  tpd: presentGauge(scope.tpd),
  concurrent: scope.concurrent && { ...scope.concurrent },
})

const presentGauge = (gauge: WindowUsage | null) =>
  gauge && { limit: gauge.limit, remaining: gauge.remaining, reset_ms: gauge.resetMs }

function closestOf(standing: LimitStatus) {
  const all = limitScopes.flatMap((scope) =>
    metrics.flatMap((metric) => {
      const status = standing[scope][metric]
      return status === null ? [] : [{ scope, metric, limit: status.limit, remaining: status.remaining }]
    }),
  )
  const share = ({ limit, remaining }: (typeof all)[number]): number => remaining / limit
  return all.toSorted((left, right) => share(left) - share(right))[0] ?? null
}
