import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { type Plan, planFor } from '../../domain/evaluation/plan.ts'
import { createStageLog } from '../../domain/evaluation/stage-log.ts'
import type { Classifier } from '../../domain/scan/classify/classifier.ts'
import type { OperationCall } from '../operation-call.ts'
import { Fault } from '../../base/fault.ts'
import { emptyRulebook, type Rulebook, type RulebookOf } from '../../domain/evaluation/rulebook.ts'

export type PlanParts = {
  readonly rulebookOf: RulebookOf
  readonly clock: Pick<Clock, 'nowMs'>
  /** Whether an organization has a policy with this id, in force or not. */
  readonly hasPolicy: (organizationId: string, id: string) => Promise<boolean>
}

/** Plans which rules apply to a request. For a free-tier request only the always blocked categories apply. */
export function planRequest(parts: PlanParts, { caller, request, purpose }: OperationCall): MaybePromise<Plan> {
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
    atMs: parts.clock.nowMs(),
  }
  if (isFree) return planFor(emptyRulebook, context)
  const organizationId = caller.organization.id
  const ids = context.policyIds
  return andThen(parts.rulebookOf(organizationId), (rulebook) => {
    if (ids.length === 0) return planFor(rulebook, context)
    return requirePolicies(parts, { organizationId, ids, rulebook }).then(() => planFor(rulebook, context))
  })
}

/** The plan with what records the evaluation: the request, the stages of the classifier, and the judge's calls if the request is traced. */
export const recordedPlan = (
  plan: Plan,
  { requestId, trace, onVerdict }: OperationCall,
  classifier: Classifier['identity'],
): Plan => ({
  ...plan,
  requestId,
  ...(onVerdict && { stageLog: createStageLog(classifier) }),
  ...(trace && { onModelCall: (modelCall, direction) => trace.onModelCall(modelCall, direction) }),
})

type NamedPolicies = { readonly organizationId: string; readonly ids: readonly string[]; readonly rulebook: Rulebook }

/** Rejects unknown ids, because a mistyped id must not silently turn a policy off. A paused policy may be named. */
async function requirePolicies(
  { hasPolicy }: PlanParts,
  { organizationId, ids, rulebook }: NamedPolicies,
): Promise<void> {
  const isInForce = (id: string): boolean => rulebook.policies.some((policy) => policy.id === id)
  for (const id of ids) {
    if (isInForce(id) || (await hasPolicy(organizationId, id))) continue
    const message = `The request names a policy that does not exist: ${id}.`
    throw new Fault('malformed', 'invalid_header', message, { option: 'policy_id' })
  }
}
