import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { tap } from '../../base/pull-stream.ts'
import type { Ids } from '../../base/ids.ts'
import type { Evaluation, Evaluate } from '../../domain/evaluation/evaluate.ts'
import {
  isNearThreshold,
  requiredCoverage,
  type HoldBackPolicyOf,
  type ResponseCoverage,
} from '../../domain/evaluation/stream/hold-back-policy.ts'
import { isDenied, denialOf, withDecisions, type Verdict } from '../../domain/evaluation/verdict/combine.ts'
import type { CountedRequest } from '../../domain/evaluation/spikes/decision-counter.ts'
import type { Plan } from '../../domain/evaluation/plan.ts'
import type { Classifier } from '../../domain/scan/classify/classifier.ts'
import { isRephrasing, type Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import { type QuotaReservation, boundless, type QuotaReservations } from '../../domain/gateway-config/quotas.ts'
import {
  policyObject,
  denialFault,
  verdictFacts,
  type DenialAddresses,
} from '../../domain/evaluation/verdict/format.ts'
import {
  totalTokens,
  type InferenceEnd,
  type Chunk,
  type Usage,
  totalInputTokens,
} from '../../domain/inference/events.ts'
import type { ModelRequest } from '../../domain/inference/request.ts'
import { alwaysBlockedCategories } from '../../domain/scan/classify/categories.ts'
import { createPlaceholderMap } from '../../domain/scan/detect/personal-data/placeholder-map.ts'
import { createRephraser, isRedacting, withoutPersonalData, withTexts, type Rephraser } from './rewrite-request.ts'
import { guardOutput, type OutputGuardParts } from './output-guard.ts'
import type { OperationCall } from '../operation-call.ts'
import type { Metered } from '../billing/meter.ts'
import { redactResponse } from './redact-response.ts'
import { createIdleTimers } from './idle-timer.ts'
import { scanUpstreamError } from './upstream-errors.ts'
import { type PlanParts, planRequest, recordedPlan } from './plan-request.ts'

export type EnforceParts = PlanParts &
  QuotaParts & {
    readonly evaluate: Evaluate
    /** Evaluates without caches; used for parts of a stream. */
    readonly evaluateUncached: Evaluate
    readonly holdBackPolicyOf: HoldBackPolicyOf
    readonly rephrase: Rephrase | undefined
    readonly clock: Clock
    /** Yields to the event loop. */
    readonly pause: () => Promise<unknown>
    readonly ids: Ids
    /** Classifies responses, and is named in audit events. */
    readonly classifier: Classifier
    /** Shown if a request about self-harm is blocked. */
    readonly crisisMessage: string
    /** Whether callers get their own personal data back if the model repeats its placeholder. */
    readonly restoresPersonalData: boolean
    /** The addresses that a denial gives its caller; undefined if it gives none. */
    readonly addressesOf?: ((organizationId: string, eventId: string) => DenialAddresses) | undefined
    /** Called with the decisions on a request and its response, for the denial-spike monitor. */
    readonly countDecisions: (request: CountedRequest) => void
  }

/** A request that may be sent to a model, and the guard of its response. */
export type EnforcedRequest = AsyncDisposable & {
  /** The request as it may be sent: rephrased or redacted if the verdict requires it. */
  readonly request: ModelRequest
  /** The output tokens that the quotas leave; `Infinity` without a quota. */
  readonly outputTokensLeft: number
  /** How much of the response the rules require to be evaluated before any of it is sent. */
  readonly requiredCoverage: ResponseCoverage
  guard(metered: Metered, stopUpstream: () => Promise<void>): AsyncIterable<Chunk>
  /** Throws the upstream's error, without its message if the caller may not read it. */
  fail(error: unknown): Promise<never>
}

/** Enforces the rules of the caller's organization on a request. Throws a Fault if the request is denied. */
export type Enforce = (call: OperationCall, estimate: Estimate) => Promise<EnforcedRequest>

/** The most a request may use. */
export type Estimate = { readonly expected: Usage; readonly outputTokens: number }

export function createEnforce(parts: EnforceParts): Enforce {
  const { evaluate } = parts
  const rephraserFor = (plan: Plan): Rephraser => createRephraser(plan, evaluate, parts.rephrase)
  const idleTimers = createIdleTimers(parts.clock)

  return async (call, { expected, outputTokens }) => {
    const plan = recordedPlan(await planRequest(parts, call), call, parts.classifier.identity)
    const quota = await reserveQuota(parts, call, { plan, expected, outputTokens })
    try {
      const evaluation = await evaluate(plan, { ...call.operation.textsOf(call.request), direction: 'request' })
      call.onVerdict?.(() => verdictFacts(evaluation.verdict, { plan, direction: 'request' }))
      return enforcedRequest({ call, plan, quota, evaluation }, await allowedRequest(call, { plan, evaluation }))
    } catch (error) {
      await quota[Symbol.asyncDispose]()
      throw error
    }
  }

  function enforcedRequest({ call, plan, quota, evaluation }: AllowedCall, allowed: ModelRequest): EnforcedRequest {
    const placeholderMap = isRedacting(plan) ? createPlaceholderMap() : undefined
    const holdBack = parts.holdBackPolicyOf(plan, isNearThreshold(evaluation.findings, alwaysBlockedCategories))
    let response: Metered | undefined
    let guarded: Disposable | undefined

    const conclude: OutputGuardParts['conclude'] = (responseDecisions, end, coverage) => {
      void quota.settle(totalTokens(end.usage))
      const verdict = withDecisions(evaluation.verdict, responseDecisions)
      const isOfRequest = verdict.deciding !== undefined && evaluation.verdict.decisions.includes(verdict.deciding)
      const direction = isOfRequest ? 'request' : 'response'
      call.onVerdict?.(() => verdictFacts(verdict, { plan, direction, coverage }))
      return reportVerdict(call, verdict)
    }
    const rephrase = async (denied: Evaluation): Promise<string | undefined> =>
      (await rephraserFor(plan)(denied, 'response', call.signal))?.get(denied.offendingTexts[0] ?? '')

    const onErrorVerdict = ({ decisions }: Verdict): void => {
      const verdict = withDecisions(evaluation.verdict, decisions)
      call.onVerdict?.(() => verdictFacts(verdict, { plan, direction: 'response' }))
      reportVerdict(call, verdict)
    }
    const fail = async (error: unknown): Promise<never> => {
      throw await scanUpstreamError(error, { evaluate, plan, onVerdict: onErrorVerdict })
    }

    // A response that breaks off has used its input and the output generated until then.
    const dispose = (): Promise<void> => {
      guarded?.[Symbol.dispose]()
      return quota.settle(response === undefined ? 0 : totalTokens(response.used()))
    }
    return {
      request: placeholderMap === undefined ? allowed : withoutPersonalData(call.operation, allowed, placeholderMap),
      outputTokensLeft: quota.maxOutputTokens,
      requiredCoverage: requiredCoverage(holdBack),
      guard(metered, stopUpstream) {
        response = metered
        const { timing, onWithheld } = call
        const guardParts = { ...parts, idleTimers, plan, holdBack, rephrase, stopUpstream, conclude }
        const output = guardOutput(metered, { ...guardParts, timing, onWithheld })
        guarded = output
        const onChunk = (chunk: Chunk): Chunk => {
          metered.delivered(chunk)
          return chunk
        }
        const chunks = tap(output, onChunk, fail)
        const roles = call.request.raw?.roles
        if (placeholderMap === undefined || roles === undefined) return chunks
        return redactResponse(chunks, { placeholderMap, restoresPersonalData: parts.restoresPersonalData, roles })
      },
      fail,
      [Symbol.asyncDispose]: dispose,
    }
  }

  /** The request as the verdict allows it to be sent. Throws the denial. */
  function allowedRequest(call: OperationCall, evaluated: EvaluatedCall): MaybePromise<ModelRequest> {
    const { verdict } = evaluated.evaluation
    if (isDenied(verdict)) throw denial(call, evaluated.plan, verdict)
    return isRephrasing(verdict.effectiveDecision) ? rephrasedRequest(call, evaluated) : call.request
  }

  async function rephrasedRequest(call: OperationCall, { plan, evaluation }: EvaluatedCall): Promise<ModelRequest> {
    const { verdict } = evaluation
    const texts = await rephraserFor(plan)(evaluation, 'request', call.signal)
    const rephrased = withTexts(call.operation, call.request, texts ?? new Map())
    // Not every text can be replaced: tools, signed thinking, and texts that span several fields stay.
    const again = await evaluate(plan, { ...call.operation.textsOf(rephrased), direction: 'request' })
    if (again.offendingTexts.length === 0) return rephrased
    throw denial(call, plan, withDecisions(verdict, denialOf(verdict)))
  }

  function denial(call: OperationCall, plan: Plan, verdict: Verdict): Error {
    call.onVerdict?.(() => verdictFacts(verdict, { plan, direction: 'request' }))
    return denialFault(verdict, reportVerdict(call, verdict), { crisis: parts.crisisMessage, plan })
  }

  /** Counts the decisions for the spike monitor. Returns the `policy` object for the caller unless all is allowed. */
  function reportVerdict({ caller, request, purpose }: OperationCall, verdict: Verdict): InferenceEnd['policy'] {
    if (caller.kind !== 'free')
      parts.countDecisions({
        organizationId: caller.organization.id,
        caller: { keyId: caller.id, user: purpose?.user ?? request.user ?? '' },
        decisions: verdict.decisions,
      })
    if (verdict.decision === 'allow') return undefined
    if (caller.kind === 'free') return policyObject(verdict, undefined)
    const eventId = parts.ids('evt')
    const addresses = isDenied(verdict) ? parts.addressesOf?.(caller.organization.id, eventId) : undefined
    return policyObject(verdict, eventId, addresses)
  }
}

type EvaluatedCall = { readonly plan: Plan; readonly evaluation: Evaluation }

type AllowedCall = EvaluatedCall & { readonly call: OperationCall; readonly quota: QuotaReservation }

type QuotaParts = { readonly quotas: QuotaReservations }

/** Reserves tokens under the quotas of the request's user and project. A free-tier request has no quota. */
function reserveQuota(
  { quotas }: QuotaParts,
  { caller, requestId, request }: OperationCall,
  { plan, expected, outputTokens }: Estimate & { plan: Plan },
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
    outputTokens,
    leastOutputTokens: Math.min(outputTokens, minOutputTokensOf(request)),
  })
}

/** Some upstreams reject a smaller output limit. A reasoning model also needs tokens for its answer after its reasoning. */
const minOutputTokensOf = ({ reasoning }: ModelRequest): number => Math.max(16, (reasoning?.budgetTokens ?? 0) + 1)
