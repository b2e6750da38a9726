import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { Fault } from '../../base/fault.ts'
import { planFor, type Plan } from '../../domain/evaluation/rules/plan.ts'
import { emptyRulebook, type Rulebook, type RulebookOf } from '../../domain/evaluation/rules/rulebook.ts'
import type { InferenceCall } from '../inference-call.ts'

export type PlanParts = {
  readonly rulebookOf: RulebookOf
  /** Whether an organization has a policy with this id, in force or not. */
  readonly hasPolicy: (organizationId: string, id: string) => Promise<boolean>
}

/** Plans which rules apply to a request. For a free-tier request only the always blocked categories apply. */
export function planRequest(parts: PlanParts, { caller, request, purpose }: InferenceCall): MaybePromise<Plan> {
  const isFree = caller.kind === 'free'
  const context = {
    model: request.model,
    project: isFree ? '' : caller.projectId,
    user: purpose?.user ?? request.user,
    credentialId: isFree ? caller.client : caller.id,
    metadata: request.metadata ?? {},
    target: purpose?.target,
    policyIds: purpose?.policyIds ?? [],
    flaggedCategories: request.flaggedCategories,
  }
  if (isFree) return planFor(emptyRulebook, context)
  const organizationId = caller.organization.id
  return andThen(parts.rulebookOf(organizationId), (rulebook) => {
    const required = requirePolicies(parts, { organizationId, ids: context.policyIds, rulebook })
    return andThen(required, () => planFor(rulebook, context))
  })
}

type NamedPolicies = { readonly organizationId: string; readonly ids: readonly string[]; readonly rulebook: Rulebook }

/** Rejects unknown ids, because a mistyped id must not silently turn a policy off. A paused policy may be named. */
function requirePolicies(
  { hasPolicy }: PlanParts,
  { organizationId, ids, rulebook }: NamedPolicies,
): MaybePromise<void> {
  const isInForce = (id: string): boolean => rulebook.policies.some((policy) => policy.id === id)
  return sequentially(
    ids.filter((id) => !isInForce(id)),
    async (id) => {
      if (await hasPolicy(organizationId, id)) return
      const message = `The request names a policy that does not exist: ${id}.`
      throw new Fault('malformed', 'invalid_header', message, { option: 'policy_id' })
    },
  )
}
