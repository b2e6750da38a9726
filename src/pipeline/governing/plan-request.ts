import { Fault } from '../../base/fault.ts'
import { planFor, type Plan } from '../../domain/governance/plan.ts'
import { emptyRulebook, type Rulebook, type RulebookOf } from '../../domain/governance/rulebook.ts'
import type { Asking } from '../asking.ts'

export type PlanParts = {
  readonly rulebookOf: RulebookOf
  /** Whether an organization has a policy of this id, in force or not. */
  readonly hasPolicy: (organizationId: string, id: string) => Promise<boolean>
}

/** Which rules hold for a request. For the free one, which is nobody's, only what is always blocked. */
export async function planRequest(parts: PlanParts, { caller, request, purpose }: Asking): Promise<Plan> {
  const occasion = {
    model: request.model,
    user: purpose?.user ?? request.user,
    metadata: request.metadata ?? {},
    target: purpose?.target,
    policyIds: purpose?.policyIds ?? [],
    flaggedCategories: request.flaggedCategories,
  }
  if (caller.kind === 'free') return planFor(emptyRulebook, { ...occasion, project: '', credentialId: caller.client })
  const organizationId = caller.organization.id
  const rulebook = await parts.rulebookOf(organizationId)
  for (const id of occasion.policyIds) await requirePolicy(parts, { organizationId, id, rulebook })
  return planFor(rulebook, { ...occasion, project: caller.projectId, credentialId: caller.id })
}

type Named = { readonly organizationId: string; readonly id: string; readonly rulebook: Rulebook }

/** A name that was mistyped must not switch a policy off in silence; one that is paused may be named all the same. */
async function requirePolicy({ hasPolicy }: PlanParts, { organizationId, id, rulebook }: Named): Promise<void> {
  if (rulebook.policies.some((policy) => policy.id === id) || (await hasPolicy(organizationId, id))) return
  throw new Fault('malformed', 'invalid_header', `X-Policy-Id: there is no policy ${id}.`, { param: 'X-Policy-Id' })
}
