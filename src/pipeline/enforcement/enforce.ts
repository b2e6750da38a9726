import type { Clock } from '../../base/clock.ts'
import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { tap } from '../../base/pull-stream.ts'
import type { Ids } from '../../base/ids.ts'
import type { Evaluation, Evaluate } from '../../domain/evaluation/findings/evaluate.ts'
import { holdBackOf, isNearThreshold } from '../../domain/evaluation/stream/hold-back.ts'
import {
  combine,
  isDenied,
  mergeOutcomes,
  denialOf,
  type CheckOutcome,
  type Verdict,
} from '../../domain/evaluation/verdict/outcome.ts'
import type { Plan } from '../../domain/evaluation/rules/plan.ts'
import { isRephrasing, type Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import type { QuotaReservation } from '../../domain/gateway-config/quotas.ts'
import { scannedTextsOf } from '../../domain/evaluation/texts/request-texts.ts'
import { policyObject, denialFault, verdictFacts } from '../../domain/evaluation/verdict/format.ts'
import { totalTokens, type InferenceEnd, type Chunk, type Usage } from '../../domain/inference/events.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { alwaysBlockedCategories, type Category } from '../../domain/moderation/categories.ts'
import type { IncrementalScan } from '../../domain/moderation/incremental-scan.ts'
import { createPlaceholderMap } from '../../domain/moderation/personal-data/placeholder-map.ts'
import { createRephraser, isRedacting, withoutPersonalData, withTexts, type Rephraser } from './rewrite-request.ts'
import { guardOutput } from './output-guard.ts'
import type { InferenceCall } from '../inference-call.ts'
import type { Metered } from '../billing/meter.ts'
import { planRequest, type PlanParts } from './plan-request.ts'
import { redactedAnswer } from './redact-answer.ts'
import { createIdleTimers } from './idle-timer.ts'
import { reserveQuota, type QuotaParts } from './reserve-quota.ts'
import { scanUpstreamError } from './upstream-errors.ts'

export type EnforceParts = PlanParts &
  QuotaParts & {
    readonly examine: Evaluate
    /** The same judgement without remembering it. */
    readonly glance: Evaluate
    readonly readAlong: IncrementalScan
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
    readonly note: (organizationId: string, outcomes: readonly CheckOutcome[]) => void
  }

/** A request that may go on, as it may go on, and the eye on its answer. */
export type EnforcedRequest = AsyncDisposable & {
  readonly request: InferenceRequest
  /** How long its answer may be by its quotas. */
  readonly maxOutputTokens: number
  guard(metered: Metered, stop: () => Promise<void>): AsyncIterable<Chunk>
  /** Throws the error of an upstream, without its message where the caller may not read that. */
  fail(error: unknown): Promise<never>
}

/** Holds a request to all that its organization wants checked; refuses it with a Fault, or lets it go on. */
export type Enforce = (asking: InferenceCall, estimate: Estimate) => Promise<EnforcedRequest>

/** What a request may use at the most. */
export type Estimate = { readonly expected: Usage; readonly maxOutputTokens: number }

const alwaysBlocked: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

export function createEnforce(parts: EnforceParts): Enforce {
  const { examine } = parts
  const rephraserFor = (plan: Plan): Rephraser => createRephraser(plan, examine, parts.rephrase)
  const silences = createIdleTimers(parts.clock)

  return async (asking, { expected, maxOutputTokens }) => {
    const planned = planRequest(parts, asking)
    const plan = isPromise(planned) ? await planned : planned
    const taken = reserveQuota(parts, asking, { plan, expected, maxOutputTokens })
    const place = isPromise(taken) ? await taken : taken
    try {
      const examined = examine(plan, { ...scannedTextsOf(asking.request), direction: 'request' })
      const examination = isPromise(examined) ? await examined : examined
      asking.onVerdict?.(verdictFacts(examination.verdict, { plan, direction: 'request' }))
      const allowed = allowedRequest(asking, { plan, examination })
      return goOn({ asking, plan, place, examination }, isPromise(allowed) ? await allowed : allowed)
    } catch (error) {
      await place[Symbol.asyncDispose]()
      throw error
    }
  }

  function goOn({ asking, plan, place, examination }: Going, allowed: InferenceRequest): EnforcedRequest {
    const vault = isRedacting(plan) ? createPlaceholderMap() : undefined
    const holding = holdBackOf(plan, isNearThreshold(examination.findings, alwaysBlocked))
    const asked = examination.verdict.outcomes
    let answer: Metered | undefined

    const conclude = (answered: readonly CheckOutcome[], end: InferenceEnd): InferenceEnd['policy'] => {
      void place.settle(totalTokens(end.usage))
      const verdict = combine(mergeOutcomes([...asked, ...answered]))
      const direction = verdict.deciding !== undefined && asked.includes(verdict.deciding) ? 'request' : 'response'
      asking.onVerdict?.(verdictFacts(verdict, { plan, direction, coverage: holding.isWhole ? 'whole' : 'held_back' }))
      return told(asking, verdict)
    }
    const rephrased = async (unfit: Evaluation): Promise<string | undefined> =>
      (await rephraserFor(plan)(unfit, 'response', asking.signal))?.get(unfit.offending[0] ?? '')

    const onErrorVerdict = ({ outcomes }: Verdict): void => {
      const verdict = combine(mergeOutcomes([...asked, ...outcomes]))
      asking.onVerdict?.(verdictFacts(verdict, { plan, direction: 'response' }))
      told(asking, verdict)
    }
    const fail = async (error: unknown): Promise<never> => {
      throw await scanUpstreamError(error, { examine, plan, onVerdict: onErrorVerdict })
    }

    // An answer that breaks off has used its input and what was generated until then.
    const giveBack = (): Promise<void> => place.settle(answer === undefined ? 0 : totalTokens(answer.used()))
    return {
      request: vault === undefined ? allowed : withoutPersonalData(allowed, vault),
      maxOutputTokens: place.maxOutputTokens,
      guard(metered, stop) {
        answer = metered
        const guarding = { ...parts, silences, plan, holding, rephrased, stop, conclude }
        const pieces = tap(guardOutput(metered, guarding), (piece) => piece, fail)
        const { roles } = asking.request.raw
        return vault === undefined ? pieces : redactedAnswer(pieces, { vault, restores: parts.restores, roles })
      },
      fail,
      [Symbol.asyncDispose]: giveBack,
    }
  }

  /** The request as the verdict on it lets it go on, or the refusal. */
  function allowedRequest(asking: InferenceCall, judged: Judged): MaybePromise<InferenceRequest> {
    const { verdict } = judged.examination
    if (isDenied(verdict)) throw refused(asking, judged.plan, verdict)
    return isRephrasing(verdict.effectiveDecision) ? rewrittenRequest(asking, judged) : asking.request
  }

  async function rewrittenRequest(asking: InferenceCall, { plan, examination }: Judged): Promise<InferenceRequest> {
    const { verdict } = examination
    const texts = await rephraserFor(plan)(examination, 'request', asking.signal)
    const written = withTexts(asking.request, texts ?? new Map())
    // Not all that a request says can be changed: tools, signed thinking, what stands in several fields.
    const again = await examine(plan, { ...scannedTextsOf(written), direction: 'request' })
    if (again.offending.length === 0) return written
    throw refused(asking, plan, combine([...denialOf(verdict), ...verdict.outcomes]))
  }

  function refused(asking: InferenceCall, plan: Plan, verdict: Verdict): Error {
    asking.onVerdict?.(verdictFacts(verdict, { plan, direction: 'request' }))
    const { escalation_path: escalationPath } = plan.gateway.config.refusal_replacement
    return denialFault(verdict, told(asking, verdict), { crisis: parts.crisisMessage, escalationPath })
  }

  /** Tells the watch, and the caller where there is more to tell than that all is well. */
  function told({ caller }: InferenceCall, verdict: Verdict): InferenceEnd['policy'] {
    if (caller.kind !== 'free') parts.note(caller.organization.id, verdict.outcomes)
    if (verdict.decision === 'allow') return undefined
    return policyObject(verdict, caller.kind === 'free' ? undefined : parts.ids('evt'))
  }
}

type Judged = { readonly plan: Plan; readonly examination: Evaluation }

/** A request that was let through, with all that its answer is held to. */
type Going = Judged & { readonly asking: InferenceCall; readonly place: QuotaReservation }
