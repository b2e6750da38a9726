import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Plan } from '../../domain/evaluation/rules/plan.ts'
import { boundless, type QuotaReservation, type QuotaReservations } from '../../domain/gateway-config/quotas.ts'
import { totalInputTokens, type Usage } from '../../domain/inference/events.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import type { InferenceCall } from '../inference-call.ts'

export type QuotaParts = { readonly quotas: QuotaReservations }

/** Reserves tokens under the quotas of the request's user and project. A free-tier request has no quota. */
export function reserveQuota(
  { quotas }: QuotaParts,
  { caller, requestId, request }: InferenceCall,
  { plan, expected, maxOutputTokens }: { plan: Plan; expected: Usage; maxOutputTokens: number },
): MaybePromise<QuotaReservation> {
  if (caller.kind === 'free') return boundless
  return quotas.take({
    organizationId: caller.organization.id,
    projectId: caller.projectId,
    userId: plan.facts.user === '' ? undefined : plan.facts.user,
    config: plan.gateway.config,
    version: plan.gateway.version,
    requestId,
    inputTokens: totalInputTokens(expected),
    outputTokens: maxOutputTokens,
    leastOutputTokens: Math.min(maxOutputTokens, minOutputTokensOf(request)),
  })
}

/** Some upstreams reject a smaller output limit. A reasoning model also needs tokens for its answer after its reasoning. */
const minOutputTokensOf = ({ reasoning }: InferenceRequest): number => Math.max(16, (reasoning?.budgetTokens ?? 0) + 1)
