import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Examination, Examine } from '../../domain/governance/examine.ts'
import { holdingOf, isTense } from '../../domain/governance/holding.ts'
import {
  combine,
  isDenied,
  mergeOutcomes,
  refusalOf,
  type Outcome,
  type Verdict,
} from '../../domain/governance/outcome.ts'
import type { Plan } from '../../domain/governance/plan.ts'
import { isRephrasing, type Rephrase } from '../../domain/governance/rephrase.ts'
import { textsOfRequest } from '../../domain/governance/request-texts.ts'
import { policyObject, refusal, verdictFacts } from '../../domain/governance/spell.ts'
import {
  totalInputTokens,
  totalTokens,
  type InferenceEnd,
  type Piece,
  type Usage,
} from '../../domain/inference/events.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { alwaysBlockedCategories, type Category } from '../../domain/moderation/categories.ts'
import { createVault } from '../../domain/moderation/personal-data/vault.ts'
import { createRephraser, isRedacting, withoutPersonalData, withTexts, type Rephraser } from './change-request.ts'
import { guarded } from './guard.ts'
import type { Asking } from '../asking.ts'
import type { Metered } from '../paying/meter.ts'
import { planRequest, type PlanParts } from './plan-request.ts'
import { redactedAnswer } from './redact-answer.ts'
import { createAfterSilence } from './silence.ts'
import { takeQuota, type QuotaParts } from './take-quota.ts'

export type GovernParts = PlanParts &
  QuotaParts & {
    readonly examine: Examine
    /** The same judgement without remembering it. */
    readonly glance: Examine
    readonly rephrase: Rephrase | undefined
    readonly clock: Clock
    /** Lets others run while a long text is read at once. */
    readonly pause: () => Promise<unknown>
    readonly ids: Ids
    /** Said where a request about self-harm is blocked. */
    readonly crisisMessage: string
    /** Whether callers get their own personal data back where the model repeats its placeholder. */
    readonly restores: boolean
    /** Told what each check said about a request and its answer. */
    readonly note: (organizationId: string, outcomes: readonly Outcome[]) => void
  }

/** A request that may go on, as it may go on, and the eye on its answer. */
export type Governed = AsyncDisposable & {
  readonly request: InferenceRequest
  guard(metered: Metered, stop: () => Promise<void>): AsyncIterable<Piece>
}

/** Holds a request to all that its organization wants checked; refuses it with a Fault, or lets it go on. */
export type Govern = (asking: Asking, expected: Usage) => Promise<Governed>

const alwaysBlocked: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

export function createGovern(parts: GovernParts): Govern {
  const { examine } = parts
  const afterSilence = createAfterSilence(parts.clock)

  return async (asking, expected) => {
    const plan = await planRequest(parts, asking)
    await using owned = new AsyncDisposableStack()
    const place = owned.use(await takeQuota(parts, asking, { plan, expected }))
    const examination = await examine(plan, { texts: textsOfRequest(asking.request), direction: 'request' })
    const asked = examination.verdict.outcomes
    asking.onVerdict?.(verdictFacts(examination.verdict, { plan, direction: 'request' }))
    const rephraser = createRephraser(plan, examine, parts.rephrase)
    const vault = createVault()
    const allowed = await allowedRequest(asking, { plan, examination, rephraser })
    const request = isRedacting(plan) ? withoutPersonalData(allowed, vault) : allowed
    const holding = holdingOf(plan, isTense(examination.findings, alwaysBlocked))
    const kept = owned.move()

    const conclude = (answered: readonly Outcome[], end: InferenceEnd): InferenceEnd['policy'] => {
      void place.settle(totalTokens(end.usage))
      const verdict = combine(mergeOutcomes([...asked, ...answered]))
      const direction = verdict.deciding !== undefined && asked.includes(verdict.deciding) ? 'request' : 'response'
      asking.onVerdict?.(verdictFacts(verdict, { plan, direction, coverage: holding.isWhole ? 'whole' : 'held_back' }))
      return told(asking, verdict)
    }
    const rephrased = async (unfit: Examination): Promise<string | undefined> =>
      (await rephraser(unfit, 'response', asking.signal))?.get(unfit.offending[0] ?? '')

    return {
      request,
      guard(metered, stop) {
        kept.defer(() => place.settle(totalInputTokens(expected)))
        const pieces = guarded(metered, { ...parts, afterSilence, plan, holding, rephrased, stop, conclude })
        return isRedacting(plan) ? redactedAnswer(pieces, { vault, restores: parts.restores }) : pieces
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }

  /** The request as the verdict on it lets it go on, or the refusal. */
  async function allowedRequest(asking: Asking, { plan, examination, rephraser }: Judged): Promise<InferenceRequest> {
    const { verdict } = examination
    if (isDenied(verdict)) throw refused(asking, plan, verdict)
    if (!isRephrasing(verdict.effectiveDecision)) return asking.request
    const texts = await rephraser(examination, 'request', asking.signal)
    if (texts === undefined) throw refused(asking, plan, combine([...refusalOf(verdict), ...verdict.outcomes]))
    return withTexts(asking.request, texts)
  }

  function refused(asking: Asking, plan: Plan, verdict: Verdict): Error {
    asking.onVerdict?.(verdictFacts(verdict, { plan, direction: 'request' }))
    const { escalation_path: escalationPath } = plan.gateway.config.refusal_replacement
    return refusal(verdict, told(asking, verdict), { crisis: parts.crisisMessage, escalationPath })
  }

  /** Tells the watch, and the caller where there is more to tell than that all is well. */
  function told({ caller }: Asking, verdict: Verdict): InferenceEnd['policy'] {
    if (caller.kind !== 'free') parts.note(caller.organization.id, verdict.outcomes)
    if (verdict.decision === 'allow') return undefined
    return policyObject(verdict, caller.kind === 'free' ? undefined : parts.ids('evt'))
  }
}

type Judged = { readonly plan: Plan; readonly examination: Examination; readonly rephraser: Rephraser }
