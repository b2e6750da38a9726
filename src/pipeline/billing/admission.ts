import type { Failpoint } from '../../base/failpoint.ts'
import { isFault, type Fault } from '../../base/fault.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Tags } from '../../domain/costs/tags.ts'
import type { ChargeBacklog } from '../../domain/credits/backlog.ts'
import type { SliceAllocator } from '../../domain/credits/slice-allocator.ts'
import { remainingMicro, type LedgerStore } from '../../domain/credits/ledger-store.ts'
import { worstCaseMicro, type Rates } from '../../domain/credits/rates.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { Model, Price } from '../../domain/inference/catalogue.ts'
import type { Usage } from '../../domain/inference/events.ts'
import type { OutputLimit } from '../../domain/inference/output-limit.ts'
import type { Admitted, AdmissionRequest, Rejected, Subject, AdmissionResult } from '../../domain/limits/admission.ts'
import type { LimitsOf } from '../../domain/limits/overrides.ts'
import { isMetric, type Limits } from '../../domain/limits/scopes.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import { budgetExceeded, budgetsUnavailable } from './budget-faults.ts'
import type { Budgets, RequestBudgets } from './budgets.ts'
import { createLease, spenderOf, type Lease, type LeaseParts } from './lease.ts'
import { creditsUnavailable, insufficientCredits, overLimit } from './limit-faults.ts'

export type AdmissionParts = LeaseParts & {
  readonly limits: LimitStore
  readonly budgets: Budgets
  readonly limitsOf: LimitsOf
  readonly ratesOf: (price: Price) => Rates
  readonly allocator: Pick<SliceAllocator, 'topUp'>
  readonly ledger: Pick<LedgerStore, 'balance'>
  readonly backlog: Pick<ChargeBacklog, 'isFull'> | null
  readonly failpoint: Failpoint
  /** Called with every decision, for metrics. */
  readonly onDecision: (verdict: AdmissionResult) => void
}

/** The request to admit, with the most that it may use. */
export type AdmissionCall = {
  readonly requestId: string
  readonly principal: Principal
  readonly model: Model
  /** The end user, if the request names one. */
  readonly userId?: string | undefined
  readonly tags?: Tags | undefined
  readonly expected: Usage
  readonly outputLimit: OutputLimit
  readonly signal: AbortSignal
  /** A budget that was exceeded, so that this model is used instead of the requested one. */
  readonly exceededBudget?: string | undefined
}

export type Admission = {
  /** Checks three scopes, five metrics, the budgets and the credits in one atomic step. A rejection is thrown as a Fault. */
  admit(call: AdmissionCall): MaybePromise<Lease>
  /** Counts a request that ends before its admission. Throws if this attempt exceeds a limit. */
  count(principal: Principal): Promise<AdmissionResult>
}

type Running = Extract<AdmissionRequest, { mode: 'full' }>

/** The most that a request may use, and its prices. */
type WorstCase = { readonly tokens: number; readonly micro: number; readonly rates: Rates }

function worstCaseOf({ model, expected, outputLimit }: AdmissionCall, rates: Rates): WorstCase {
  // Whatever the caller requests, no answer is longer than the model's context.
  const output = Math.min(outputLimit.tokens, model.contextTokens)
  const input = expected.inputTokens
  return { tokens: input + output, micro: worstCaseMicro({ input, output }, rates), rates }
}

type Wanted = { readonly request: Running; readonly budgets: RequestBudgets | undefined }

type Bounds = {
  readonly limits: Limits
  readonly worst: WorstCase
  readonly budgets: RequestBudgets | undefined
}

/** More than an organization has budgets. A counter is closed again by each request that settles without a hold in it, such as those that ran when Redis lost its state. */
const maxOpened = 250

export function createAdmission(parts: AdmissionParts): Admission {
  return {
    admit(call) {
      if (parts.backlog?.isFull()) throw creditsUnavailable()
      return andThen(parts.limitsOf(call.principal), (limits) => withBudgets(call, limits))
    },

    async count(principal) {
      const result = await countAttempt(principal)
      if (!result.admitted && isMetric(result.reason)) throw overLimit(result, result.reason)
      return result
    },
  }

  function withBudgets(call: AdmissionCall, limits: Limits): MaybePromise<Lease> {
    const worst = worstCaseOf(call, parts.ratesOf(call.model.price))
    const found = parts.budgets.of(spenderOf(call), { ...worst, requests: 1 }, call.exceededBudget)
    return andThen(found, (budgets) => admitWithin(call, { limits, worst, budgets }))
  }

  function admitWithin(call: AdmissionCall, { limits, worst, budgets }: Bounds): MaybePromise<Lease> {
    const { principal, requestId, model, userId, tags, expected, signal } = call
    const { tokens, rates } = worst
    const spender = { userId, tags }
    const request: Running = {
      organization: principal.organization.id,
      project: principal.projectId,
      key: principal.id,
      limits,
      mode: 'full',
      requestId,
      tokens,
      micro: principal.organization.metered ? worst.micro : null,
      ...(budgets && { budgets: budgets.demands }),
    }
    const { micro } = request
    const terms = {
      requestId,
      principal,
      model: model.name,
      ...spender,
      rates,
      tokens,
      micro,
      budgets,
      expected,
      signal,
    }
    return andThen(parts.limits.admit(request), (decision) =>
      andThen(decision.admitted ? decision : admittedAfterRetry(call, { request, budgets }, decision), (admission) => {
        parts.onDecision(admission)
        return andThen(parts.failpoint('admitted'), () => createLease(parts, { ...terms, admission }))
      }),
    )
  }

  /**
   * After a rejection for credits, tops up the slice and tries again, until the balance was exhausted twice in a row. After one for a
   * budget whose counter is not open, opens it and tries again.
   */
  async function admittedAfterRetry(call: AdmissionCall, wanted: Wanted, rejected: Rejected): Promise<Admitted> {
    const { request, budgets } = wanted
    let result: AdmissionResult = rejected
    let exhausted = 0
    let opened = 0
    while (!result.admitted) {
      const { reason, credits, budget } = result
      if (reason === 'credits' && credits !== null && exhausted < 2) {
        const need = { organizationId: request.organization, micro: request.micro ?? 0, credits }
        exhausted = (await parts.allocator.topUp(need).catch(rethrow)) === 'exhausted' ? exhausted + 1 : 0
      } else if (budget?.used === null && opened++ < maxOpened) {
        const closed = budgets?.applied[budget.index]
        if (closed === undefined) break
        await parts.budgets.open(closed, budget.epoch)
      } else {
        break
      }
      result = await parts.limits.admit(request)
    }
    if (result.admitted) return result
    parts.onDecision(result)
    if (result.budget !== undefined) throw await overBudget(call, wanted, result)
    if (isMetric(result.reason)) throw overLimit(result, result.reason)
    throw await shortOfCredits(call.principal, request, result)
  }

  /** The counters do not count this attempt either. If the request may go on with another model, it is counted with that. */
  async function overBudget(call: AdmissionCall, { budgets }: Wanted, rejected: Rejected): Promise<Fault> {
    const applied = budgets?.applied[rejected.budget?.index ?? -1]
    const used = rejected.budget?.used ?? null
    if (applied === undefined || used === null) return budgetsUnavailable()
    const maySwitch = applied.budget.action.type === 'use_model' && call.exceededBudget === undefined
    const { limitStatus } = maySwitch ? rejected : await countAttempt(call.principal)
    const { clock, creditUsd } = parts
    return budgetExceeded({ applied, used, limitStatus, nowMs: clock.nowMs(), creditUsd })
  }

  /** The counters do not count a request that they reject for credits, so the attempt is counted here. */
  async function shortOfCredits(principal: Principal, request: Running, rejected: Rejected): Promise<Fault> {
    const { limitStatus } = await countAttempt(principal)
    return insufficientCredits({
      neededMicro: request.micro ?? 0,
      remainingMicro: await balanceLeft(parts, request.organization, rejected),
      rejected: { ...rejected, limitStatus },
    })
  }

  async function countAttempt(principal: Principal): Promise<AdmissionResult> {
    const limits = await parts.limitsOf(principal)
    return parts.limits.admit({ ...subjectOf(principal), limits, mode: 'count' })
  }
}

/** The number that a read of the balance shows. If the ledger cannot be read, the last one that this node knows. */
async function balanceLeft(
  { ledger, remaining }: Pick<AdmissionParts, 'ledger' | 'remaining'>,
  organizationId: string,
  { credits }: Rejected,
): Promise<number> {
  const balance = await ledger.balance(organizationId).catch(() => undefined)
  if (balance) return remainingMicro(balance)
  return Math.max(credits?.leftMicro ?? 0, remaining.get(organizationId) ?? 0)
}

export const subjectOf = ({ id, projectId, organization }: Principal): Subject => ({
  organization: organization.id,
  project: projectId,
  key: id,
})

/** An unreachable ledger is reported as unavailable credits. */
function rethrow(error: unknown): never {
  const isOutage = isFault(error) && error.kind === 'unavailable' && error.code !== 'credit_balance_unavailable'
  throw isOutage ? creditsUnavailable(error) : error
}
