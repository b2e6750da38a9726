import type { Clock } from '../../base/clock.ts'
import type { Evaluate } from '../../domain/evaluation/evaluate.ts'
import { planFor, type Plan } from '../../domain/evaluation/plan.ts'
import type { RulebookOf } from '../../domain/evaluation/rulebook.ts'
import { scannedTextsOf } from '../../domain/evaluation/texts/request-texts.ts'
import { isDenied } from '../../domain/evaluation/verdict/combine.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { createPlaceholderMap } from '../../domain/scan/detect/personal-data/placeholder-map.ts'
import { chatOperation } from '../operations/chat.ts'
import { withoutPersonalData } from './rewrite-request.ts'

/** Returns the request as it may be sent to an upstream for counting tokens; undefined if it may not be sent. */
export type CheckBeforeCounting = (
  principal: Principal,
  request: InferenceRequest,
) => Promise<InferenceRequest | undefined>

export type CheckBeforeCountingParts = {
  readonly evaluate: Evaluate
  readonly rulebookOf: RulebookOf
  readonly clock: Pick<Clock, 'nowMs'>
}

/** The rollout's target is unknown here, so the rules are enforced for everyone. */
const enforced: Plan['rollout'] = { mode: 'enforced', isEnforced: true }

export function createCheckBeforeCounting({
  evaluate,
  rulebookOf,
  clock,
}: CheckBeforeCountingParts): CheckBeforeCounting {
  return async ({ id, organization, projectId }, request) => {
    const { model, user, metadata = {}, flaggedCategories } = request
    const context = {
      model,
      user,
      metadata,
      flaggedCategories,
      project: projectId,
      credentialId: id,
      atMs: clock.nowMs(),
    }
    const rulebook = await rulebookOf(organization.id)
    const plan = planFor(rulebook, { ...context, target: undefined, policyIds: [] })
    // Counting tokens is not worth the price of a judge, so such requests are not sent.
    if (rulebook.judge !== undefined && plan.policies.request.length > 0) return undefined
    const { verdict } = await evaluate(
      { ...plan, rollout: enforced },
      { ...scannedTextsOf(request), direction: 'request' },
    )
    if (isDenied(verdict) || isRephrasing(verdict.effectiveDecision)) return undefined
    return plan.gateway.config.rules.redact
      ? withoutPersonalData(chatOperation, request, createPlaceholderMap())
      : request
  }
}
