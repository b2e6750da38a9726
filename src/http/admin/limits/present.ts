import type { Static } from 'typebox'
import { inCredits } from '../../../domain/credits/formatting.ts'
import type { Organization } from '../../../domain/identity/principal.ts'
import { metrics, limitScopes } from '../../../domain/limits/scopes.ts'
import type { WindowUsage, ScopeStatus, LimitStatus } from '../../../domain/limits/status.ts'
import { tierOf } from '../../../domain/limits/tiers.ts'
import type { PreflightResult } from '../../../pipeline/billing/preflight.ts'
import type { CheckObject, LimitsObject } from './schema.ts'

const microUsdPerUsd = 1_000_000

export const presentLimits = (organization: Organization, limitStatus: LimitStatus): Static<typeof LimitsObject> => ({
  object: 'organization.limits',
  tier: tierOf(organization),
  plan: organization.plan,
  lifetime_paid_usd: organization.lifetimePaidMicroUsd / microUsdPerUsd,
  scopes: presentLimitStatus(limitStatus),
})

export function presentCheck({ admission, tokens, micro }: PreflightResult): Static<typeof CheckObject> {
  const rejection = admission.admitted ? null : admission
  const waitMs = rejection?.retryAfterMs ?? null
  return {
    object: 'organization.limits.check',
    would_pass: admission.admitted,
    // The check names no user and no tags, so it looks at no budget.
    reason: rejection === null || rejection.reason === 'budget' ? null : rejection.reason,
    scope: rejection?.scope ?? null,
    retry_after_seconds: waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000)),
    holds: { tokens, credits: inCredits(micro) },
    closest: closestOf(admission.limitStatus),
    scopes: presentLimitStatus(admission.limitStatus),
  }
}

const presentLimitStatus = (limitStatus: LimitStatus) => ({
  key: presentScope(limitStatus.key),
  project: presentScope(limitStatus.project),
  organization: presentScope(limitStatus.organization),
})

const presentScope = (scope: ScopeStatus) => ({
  rpm: presentWindow(scope.rpm),
  rpd: presentWindow(scope.rpd),
  tpm: presentWindow(scope.tpm),
  tpd: presentWindow(scope.tpd),
  concurrent: scope.concurrent && { ...scope.concurrent },
})

const presentWindow = (usage: WindowUsage | null) =>
  usage && { limit: usage.limit, remaining: usage.remaining, reset_ms: usage.resetMs }

function closestOf(limitStatus: LimitStatus) {
  const all = limitScopes.flatMap((scope) =>
    metrics.flatMap((metric) => {
      const status = limitStatus[scope][metric]
      return status === null ? [] : [{ scope, metric, limit: status.limit, remaining: status.remaining }]
    }),
  )
  const share = ({ limit, remaining }: (typeof all)[number]): number => remaining / limit
  return all.toSorted((left, right) => share(left) - share(right))[0] ?? null
}
