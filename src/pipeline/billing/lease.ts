import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import type { BudgetSpend } from '../../domain/budgets/counters.ts'
import type { Tags } from '../../domain/costs/tags.ts'
import { isWritten, chargeRules, type Charge, type ChargeOutcome } from '../../domain/credits/charge.ts'
import { costMicro, type Rates } from '../../domain/credits/rates.ts'
import type { Settle } from '../../domain/credits/settle.ts'
import { inUsd, displayedBalance, displayedUsage } from '../../domain/credits/formatting.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import { totalInputTokens, totalTokens, type Quote, type Receipt, type Usage } from '../../domain/inference/events.ts'
import type { BudgetUse } from '../../domain/limits/budget-counters.ts'
import type { Admitted, Renewal } from '../../domain/limits/admission.ts'
import type { Heartbeat } from '../../domain/limits/heartbeat.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { HeldForRequest } from '../../domain/tracing/request-trace.ts'
import type { Budgets, OrganizationSpender, RequestBudgets } from './budgets.ts'

export type LeaseParts = {
  readonly limits: Pick<LimitStore, 'settle'>
  readonly heartbeat: Pick<Heartbeat, 'keep'>
  readonly settle: Settle
  readonly clock: Clock
  readonly creditUsd: number
  readonly budgets: Pick<Budgets, 'usesOf'>
  /** The last known remaining credits of each organization. */
  readonly remaining: Map<string, number>
  /** Called if the charge could not be written: the reconciler then ends the request as an orphan. */
  readonly onUnsettled: (requestId: string, error: unknown) => void
}

/** The slot, tokens and credits of an admitted request. If it is disposed of unsettled, the answer never started. */
export type Lease = AsyncDisposable & {
  /** Null for the anonymous free request. */
  readonly admission: Admitted | null
  /** What is held for it; undefined for the anonymous free request. */
  held(): HeldForRequest | undefined
  /** The price of an answer, before it is paid for. */
  quote(usage: Usage): Quote
  /** Ends the request and resolves to its receipt. Only the first call has an effect. */
  settle(outcome: ChargeOutcome, usage: Usage): Promise<Receipt>
  /** The same for an answer that no caller waits for. It never rejects. */
  giveUp(outcome: ChargeOutcome, usage: Usage): Promise<void>
  /** What the caller was charged; undefined before the end, and if nothing is charged. */
  charged(): Charged | undefined
}

/** The usage that was paid for, and its price. */
export type Charged = { readonly usage: Usage; readonly cost: Quote }

export type LeaseTerms = {
  readonly admission: Admitted
  readonly requestId: string
  readonly principal: Principal
  readonly model: string
  readonly userId?: string | undefined
  readonly tags?: Tags | undefined
  readonly rates: Rates
  /** Tokens reserved in the counters. */
  readonly tokens: number
  /** Micro-credits held; null if the organization is not metered. */
  readonly micro: number | null
  /** Undefined if none applied. */
  readonly budgets?: RequestBudgets | undefined
  /** The estimated usage of its input. */
  readonly expected: Usage
  readonly signal: AbortSignal
}

export const createLease = (parts: LeaseParts, terms: LeaseTerms): Lease => new RequestLease(parts, terms)

/** A class, because an object with its own closures would cost every request a kilobyte. */
class RequestLease implements Lease {
  readonly parts: LeaseParts
  readonly terms: LeaseTerms
  readonly request: Renewal
  readonly heartbeat: Disposable
  ended: Promise<Receipt> | undefined = undefined
  paid: Charged | undefined = undefined
  isUnsettled = false

  constructor(parts: LeaseParts, terms: LeaseTerms) {
    this.parts = parts
    this.terms = terms
    this.request = renewalOf(terms)
    this.heartbeat = parts.heartbeat.keep(this.request)
  }

  get admission(): Admitted {
    return this.terms.admission
  }

  held(): HeldForRequest {
    return this.terms
  }

  quote(usage: Usage): Quote {
    return quoteOf(costMicro(usage, this.terms.rates), this.parts.creditUsd)
  }

  settle(outcome: ChargeOutcome, usage: Usage): Promise<Receipt> {
    return (this.ended ??= this.end(outcome, usage))
  }

  async giveUp(outcome: ChargeOutcome, usage: Usage): Promise<void> {
    try {
      await this.settle(outcome, usage)
    } catch (error) {
      // Later calls get the same failure, which is reported once.
      if (!this.isUnsettled) this.parts.onUnsettled(this.terms.requestId, error)
      this.isUnsettled = true
    }
  }

  charged(): Charged | undefined {
    return this.paid
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.giveUp(hasCallerLeft(this.terms.signal) ? 'left' : 'failed', this.terms.expected)
  }

  async end(outcome: ChargeOutcome, usage: Usage): Promise<Receipt> {
    const { parts, terms, request } = this
    using _ = this.heartbeat
    const tokens = tokensOf(outcome, usage, terms.tokens)
    const charge = chargeOf(terms, outcome, { usage, atMs: parts.clock.nowMs() })
    if (charge === undefined) {
      await parts.limits.settle({ ...request, tokens, micro: 0, budgets: [] })
      return this.receiptOf(0, undefined)
    }
    const budgets = await this.usesOf(charge)
    const epoch = terms.admission.credits?.epoch ?? ''
    const settled = await parts.settle(charge, { ...request, tokens, epoch, ...(budgets && { budgets }) })
    const remaining = settled?.remainingMicro ?? this.lastKnownAfter(charge)
    if (remaining !== undefined) parts.remaining.set(charge.organizationId, remaining)
    const { isPaid } = chargeRules[outcome]
    const cost = isPaid ? costMicro(usage, terms.rates) : 0
    const receipt = this.receiptOf(charge.sliceId === null || settled === null ? cost : settled.micro, remaining)
    if (isPaid) this.paid = { usage, cost: receipt }
    return receipt
  }

  /** Without them the counters are closed. The charge is written in any case. */
  async usesOf(charge: Charge): Promise<readonly BudgetUse[] | undefined> {
    const { parts, terms } = this
    const ended = { spend: spendOf(charge), atMs: charge.atMs, admitted: terms.budgets }
    try {
      return await parts.budgets.usesOf(spenderOf(terms), ended)
    } catch {
      return undefined
    }
  }

  lastKnownAfter({ organizationId, micro }: Charge): number | undefined {
    const known = this.parts.remaining.get(organizationId)
    return known === undefined ? undefined : known - micro
  }

  receiptOf(micro: number, remainingMicro: number | undefined): Receipt {
    const isMetered = this.terms.admission.credits !== null && remainingMicro !== undefined
    const remainingCredits = isMetered ? displayedBalance(remainingMicro) : null
    return { ...quoteOf(micro, this.parts.creditUsd), remainingCredits }
  }
}

/** The free request is counted when it is claimed, and costs nothing. Its receipt states what it would have cost. */
export function freeLease(rates: Rates, creditUsd: number): Lease {
  const quote = (usage: Usage): Quote => quoteOf(costMicro(usage, rates), creditUsd)
  return {
    admission: null,
    held: () => undefined,
    quote,
    settle: async (_, usage) => ({ ...quote(usage), remainingCredits: null }),
    async giveUp() {},
    charged: () => undefined,
    async [Symbol.asyncDispose]() {},
  }
}

const quoteOf = (micro: number, creditUsd: number): Quote => ({
  creditsUsed: displayedUsage(micro),
  costUsd: inUsd(micro, creditUsd),
})

/** A shutdown of the server aborts the signal with a Fault as its reason; a disconnected caller does not. */
export const hasCallerLeft = (signal: AbortSignal): boolean => signal.aborted && !isFault(signal.reason)

/** Who spends, as budgets see it. */
export const spenderOf = ({ principal, model, userId, tags = noTags }: SpendingCall): OrganizationSpender => ({
  organizationId: principal.organization.id,
  projectId: principal.projectId,
  keyId: principal.id,
  model: typeof model === 'string' ? model : model.name,
  userId,
  tags,
})

type SpendingCall = Pick<LeaseTerms, 'principal' | 'userId' | 'tags'> & { readonly model: string | Model }

const noTags: Tags = {}

/** As the sums of the ledger count it. */
function spendOf({ micro, costMicro: cost = micro, usage }: Charge): BudgetSpend {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage
  return { micro: cost, tokens: inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens, requests: 1 }
}

const renewalOf = ({ principal, requestId }: LeaseTerms): Renewal => ({
  organization: principal.organization.id,
  project: principal.projectId,
  key: principal.id,
  requestId,
})

function tokensOf(outcome: ChargeOutcome, usage: Usage, reserved: number): number {
  const counted = { used: totalTokens(usage), input: totalInputTokens(usage), none: 0, reserved }
  return counted[chargeRules[outcome].tokens]
}

type Ending = { readonly usage: Usage; readonly atMs: number }

/** The charge for the ledger; undefined for a request that used nothing. */
function chargeOf(terms: LeaseTerms, outcome: ChargeOutcome, { usage, atMs }: Ending): Charge | undefined {
  if (!isWritten(outcome)) return undefined
  const { principal, requestId, model, userId, tags, rates, admission } = terms
  const { reasoningTokens: _, ...tokens } = usage
  const cost = chargeRules[outcome].isPaid ? costMicro(usage, rates) : 0
  return {
    requestId,
    organizationId: principal.organization.id,
    projectId: principal.projectId,
    keyId: principal.id,
    model,
    userId,
    tags,
    atMs,
    outcome,
    sliceId: admission.credits?.sliceId ?? null,
    micro: admission.credits === null ? 0 : cost,
    costMicro: cost,
    usage: tokens,
    rates,
  }
}
