import type { Evaluate } from '../../domain/evaluation/findings/evaluate.ts'
import { planFor, type Plan } from '../../domain/evaluation/rules/plan.ts'
import type { RulebookOf } from '../../domain/evaluation/rules/rulebook.ts'
import { scannedTextsOf } from '../../domain/evaluation/texts/request-texts.ts'
import { isDenied } from '../../domain/evaluation/verdict/outcome.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { createPlaceholderMap } from '../../domain/moderation/personal-data/placeholder-map.ts'
import { withoutPersonalData } from './rewrite-request.ts'

/** A request as an upstream may see it that is asked to count it; undefined where it may not see it. */
export type CheckBeforeCounting = (
  principal: Principal,
  request: InferenceRequest,
) => Promise<InferenceRequest | undefined>

export type CheckBeforeCountingParts = {
  readonly examine: Evaluate
  readonly rulebookOf: RulebookOf
  /** A model judges rules in plain language; to be counted is not worth its price. */
  readonly hasJudge: boolean
}

/** Whom a rollout spares cannot be told here, so nobody is spared. */
const enforced: Plan['rollout'] = { mode: 'enforced', isEnforced: true }

export function createCheckBeforeCounting({
  examine,
  rulebookOf,
  hasJudge,
}: CheckBeforeCountingParts): CheckBeforeCounting {
  return async ({ id, organization, projectId }, request) => {
    const { model, user, metadata = {}, flaggedCategories } = request
    const occasion = { model, user, metadata, flaggedCategories, project: projectId, credentialId: id }
    const plan = planFor(await rulebookOf(organization.id), { ...occasion, target: undefined, policyIds: [] })
    if (hasJudge && plan.policies.request.length > 0) return undefined
    const { verdict } = await examine(
      { ...plan, rollout: enforced },
      { ...scannedTextsOf(request), direction: 'request' },
    )
    if (isDenied(verdict) || isRephrasing(verdict.effectiveDecision)) return undefined
    return plan.gateway.config.rules.redact ? withoutPersonalData(request, createPlaceholderMap()) : request
  }
}
