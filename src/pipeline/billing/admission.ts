import { isPromise } from '../../base/maybe-promise.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import { isFault, type Fault } from '../../base/fault.ts'
import type { ChargeBacklog } from '../../domain/credits/backlog.ts'
import type { SliceAllocator } from '../../domain/credits/slice-allocator.ts'
import { worstCaseMicro, type Rates } from '../../domain/credits/rates.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { Model, Price } from '../../domain/inference/catalogue.ts'
import type { Usage } from '../../domain/inference/events.ts'
import type { Admitted, AdmissionRequest, Rejected, Subject, AdmissionResult } from '../../domain/limits/admission.ts'
import type { LimitsOf } from '../../domain/limits/overrides.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import { createLease, type Lease, type LeaseParts } from './lease.ts'
import { creditsUnavailable, insufficientCredits, overLimit } from './limit-faults.ts'

export type AdmissionParts = LeaseParts & {
  readonly limits: LimitStore
  readonly limitsOf: LimitsOf
  readonly ratesOf: (price: Price) => Rates
  readonly allocator: Pick<SliceAllocator, 'topUp'>
  readonly backlog: Pick<ChargeBacklog, 'isFull'> | null
  readonly failpoint: Failpoint
  /** Every decision, for the figures. */
  readonly onVerdict: (verdict: AdmissionResult) => void
}

/** Who wants to do what, and how much of it at most. */
export type AdmissionCall = {
  readonly requestId: string
  readonly principal: Principal
  readonly model: Model
  readonly expected: Usage
  readonly maxOutputTokens: number
  readonly signal: AbortSignal
}

export type Admission = {
  /** One atomic step over three scopes, five metrics and the credits. A refusal is a Fault. */
  admit(applicant: AdmissionCall): Promise<Lease>
  /** A request that goes no further counts all the same. Throws where even that is one too many. */
  count(principal: Principal): Promise<AdmissionResult>
}

type Running = Extract<AdmissionRequest, { mode: 'full' }>

export function createAdmission(parts: AdmissionParts): Admission {
  return {
    async admit(applicant) {
      if (parts.backlog?.isFull()) throw creditsUnavailable()
      const { principal, requestId, model, expected, signal } = applicant
      const rates = parts.ratesOf(model.price)
      // Whatever a caller asks for, no answer is longer than what the model can hold.
      const output = Math.min(applicant.maxOutputTokens, model.contextTokens)
      const tokens = expected.inputTokens + output
      const dearest = worstCaseMicro({ input: expected.inputTokens, output }, rates)
      const limits = parts.limitsOf(principal)
      const request: Running = {
        organization: principal.organization.id,
        project: principal.projectId,
        key: principal.id,
        limits: isPromise(limits) ? await limits : limits,
        mode: 'full',
        requestId,
        tokens,
        micro: principal.organization.metered ? dearest : null,
      }
      const first = parts.limits.admit(request)
      const decided = isPromise(first) ? await first : first
      const verdict = decided.admitted ? decided : await admittedAfterTopUp(principal, request, decided)
      parts.onVerdict(verdict)
      const passed = parts.failpoint('admitted')
      if (passed !== undefined) await passed
      return createLease(parts, { verdict, requestId, principal, model: model.name, rates, tokens, expected, signal })
    },

    async count(principal) {
      const verdict = await countAttempt(principal)
      if (!verdict.admitted && verdict.reason !== 'credits') throw overLimit(verdict, verdict.reason)
      return verdict
    },
  }

  /** Refused for credits, the counters are given more of the ledger's, until it has said twice that there is no more. */
  async function admittedAfterTopUp(principal: Principal, request: Running, refused: Rejected): Promise<Admitted> {
    let verdict: AdmissionResult = refused
    for (
      let exhausted = 0;
      !verdict.admitted && verdict.reason === 'credits' && verdict.credits !== null && exhausted < 2;
    ) {
      const need = { organizationId: request.organization, micro: request.micro ?? 0, credits: verdict.credits }
      exhausted = (await parts.allocator.topUp(need).catch(rethrow)) === 'exhausted' ? exhausted + 1 : 0
      verdict = await parts.limits.admit(request)
    }
    if (verdict.admitted) return verdict
    parts.onVerdict(verdict)
    if (verdict.reason !== 'credits') throw overLimit(verdict, verdict.reason)
    throw await shortOfCredits(principal, request, verdict)
  }

  /** Whoever gives up for want of credits has made an attempt, which the counters have not counted. */
  async function shortOfCredits(principal: Principal, request: Running, refused: Rejected): Promise<Fault> {
    const { limitStatus } = await countAttempt(principal)
    const remainingMicro = Math.max(refused.credits?.leftMicro ?? 0, parts.remaining.get(request.organization) ?? 0)
    return insufficientCredits({
      neededMicro: request.micro ?? 0,
      remainingMicro,
      refused: { ...refused, limitStatus },
    })
  }

  async function countAttempt(principal: Principal): Promise<AdmissionResult> {
    const limits = await parts.limitsOf(principal)
    return parts.limits.admit({ ...subjectOf(principal), limits, mode: 'count' })
  }
}

export const subjectOf = ({ id, projectId, organization }: Principal): Subject => ({
  organization: organization.id,
  project: projectId,
  key: id,
})

/** What is out of reach is the ledger, which the caller knows as its credits. */
function rethrow(error: unknown): never {
  const isOutage = isFault(error) && error.kind === 'unavailable' && error.code !== 'credit_balance_unavailable'
  throw isOutage ? creditsUnavailable(error) : error
}
