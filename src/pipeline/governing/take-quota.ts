import type { Plan } from '../../domain/governance/plan.ts'
import type { QuotaPlace, Quotas } from '../../domain/gateway/quotas.ts'
import { totalInputTokens, type Usage } from '../../domain/inference/events.ts'
import type { Asking } from '../asking.ts'

export type QuotaParts = { readonly quotas: Quotas }

/** A place under the quotas of the request's user and project. The free request is nobody's. */
export async function takeQuota(
  { quotas }: QuotaParts,
  { caller, requestId }: Asking,
  { plan, expected }: { plan: Plan; expected: Usage },
): Promise<QuotaPlace> {
  if (caller.kind === 'free') return { async settle() {}, async [Symbol.asyncDispose]() {} }
  return quotas.take({
    organizationId: caller.organization.id,
    projectId: caller.projectId,
    userId: plan.facts.user === '' ? undefined : plan.facts.user,
    config: plan.gateway.config,
    version: plan.gateway.version,
    requestId,
    tokens: totalInputTokens(expected),
  })
}
