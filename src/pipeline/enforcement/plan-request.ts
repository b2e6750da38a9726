import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { Fault } from '../../base/fault.ts'
import { planFor, type Plan } from '../../domain/evaluation/rules/plan.ts'
import { emptyRulebook, type Rulebook, type RulebookOf } from '../../domain/evaluation/rules/rulebook.ts'
import type { InferenceCall } from '../inference-call.ts'

export type PlanParts = {
  readonly rulebookOf: RulebookOf
  /** Whether an organization has a policy of this id, in force or not. */
  readonly hasPolicy: (organizationId: string, id: string) => Promise<boolean>
}

/** Which rules hold for a request. For the free one, which is nobody's, only what is always blocked. */
export function planRequest(parts: PlanParts, { caller, request, purpose }: InferenceCall): MaybePromise<Plan> {
  const isFree = caller.kind === 'free'
  const occasion = {
    model: request.model,
    project: isFree ? '' : caller.projectId,
    user: purpose?.user ?? request.user,
    credentialId: isFree ? caller.client : caller.id,
    metadata: request.metadata ?? {},
    target: purpose?.target,
    policyIds: purpose?.policyIds ?? [],
    flaggedCategories: request.flaggedCategories,
  }
  if (isFree) return planFor(emptyRulebook, occasion)
  const organizationId = caller.organization.id
  return andThen(parts.rulebookOf(organizationId), (rulebook) => {
    const required = requirePolicies(parts, { organizationId, ids: occasion.policyIds, rulebook })
    return andThen(required, () => planFor(rulebook, occasion))
  })
}

type Named = { readonly organizationId: string; readonly ids: readonly string[]; readonly rulebook: Rulebook }

/** A name that was mistyped must not switch a policy off in silence; one that is paused may be named all the same. */
function requirePolicies({ hasPolicy }: PlanParts, { organizationId, ids, rulebook }: Named): MaybePromise<void> {
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
