import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import { isWritten, whoPays, type Charge, type ChargeOutcome } from '../../domain/credits/charge.ts'
import { costMicro, type Rates } from '../../domain/credits/rates.ts'
import type { Settle } from '../../domain/credits/settle.ts'
import { inUsd, displayedBalance, displayedUsage } from '../../domain/credits/formatting.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import { totalInputTokens, totalTokens, type Quote, type Receipt, type Usage } from '../../domain/inference/events.ts'
import type { Admitted, Renewal } from '../../domain/limits/admission.ts'
import type { Heartbeat } from '../../domain/limits/heartbeat.ts'
import type { LimitStore } from '../../domain/limits/store.ts'

export type LeaseParts = {
  readonly limits: Pick<LimitStore, 'settle'>
  readonly heartbeat: Pick<Heartbeat, 'keep'>
  readonly settle: Settle
  readonly clock: Clock
  readonly creditUsd: number
  /** What an organization had left when it was last heard of. */
  readonly remaining: Map<string, number>
  /** An end that could not be written down: the request is then found and ended as an orphan. */
  readonly onUnsettled: (requestId: string, error: unknown) => void
}

/** What was taken for a request: its place, its tokens, its credits. Disposed of without an end, it never began. */
export type Lease = AsyncDisposable & {
  /** Null for the anonymous free request, which is nobody's. */
  readonly verdict: Admitted | null
  /** What an answer costs, before it is paid for. */
  quote(usage: Usage): Quote
  /** Ends the request and answers what it cost. Only the first end counts. */
  settle(outcome: ChargeOutcome, usage: Usage): Promise<Receipt>
  /** The same for an answer that nobody waits for any more: it cannot fail. */
  giveUp(outcome: ChargeOutcome, usage: Usage): Promise<void>
  /** What the end has cost its caller; undefined before the end, and where it costs nothing. */
  charged(): Charged | undefined
}

/** What was paid for, and its price. */
export type Charged = { readonly usage: Usage; readonly cost: Quote }

export type LeaseTerms = {
  readonly verdict: Admitted
  readonly requestId: string
  readonly principal: Principal
  readonly model: string
  readonly rates: Rates
  /** Reserved in the counters. */
  readonly tokens: number
  /** What its input is expected to be. */
  readonly expected: Usage
  readonly signal: AbortSignal
}

export function createLease(parts: LeaseParts, taken: LeaseTerms): Lease {
  const request = renewalOf(taken)
  const beat = parts.heartbeat.keep(request)
  let ended: Promise<Receipt> | undefined
  let charged: Charged | undefined
  let isUnsettled = false

  const settle = (outcome: ChargeOutcome, usage: Usage): Promise<Receipt> => (ended ??= end(outcome, usage))
  const giveUp = async (outcome: ChargeOutcome, usage: Usage): Promise<void> => {
    try {
      await settle(outcome, usage)
    } catch (error) {
      // A later caller that gives the request up gets the same failure, which is reported once.
      if (!isUnsettled) parts.onUnsettled(taken.requestId, error)
      isUnsettled = true
    }
  }
  const neverBegan = (): Promise<void> => giveUp(hasCallerLeft(taken.signal) ? 'left' : 'failed', taken.expected)
  return {
    verdict: taken.verdict,
    quote: (usage) => quoteOf(costMicro(usage, taken.rates), parts.creditUsd),
    settle,
    giveUp,
    charged: () => charged,
    [Symbol.asyncDispose]: neverBegan,
  }

  async function end(outcome: ChargeOutcome, usage: Usage): Promise<Receipt> {
    using _ = beat
    const tokens = tokensOf(outcome, usage, taken.tokens)
    const charge = chargeOf(taken, outcome, { usage, atMs: parts.clock.nowMs() })
    if (charge === undefined) {
      await parts.limits.settle({ ...request, tokens, micro: 0 })
      return receiptOf(0, undefined)
    }
    const settled = await parts.settle(charge, { ...request, tokens, epoch: taken.verdict.credits?.epoch ?? '' })
    const remaining = settled?.remainingMicro ?? lastKnownAfter(charge)
    if (remaining !== undefined) parts.remaining.set(charge.organizationId, remaining)
    const { isPaid } = whoPays[outcome]
    const cost = isPaid ? costMicro(usage, taken.rates) : 0
    const receipt = receiptOf(charge.sliceId === null || settled === null ? cost : settled.micro, remaining)
    if (isPaid) charged = { usage, cost: receipt }
    return receipt
  }

  function lastKnownAfter({ organizationId, micro }: Charge): number | undefined {
    const known = parts.remaining.get(organizationId)
    return known === undefined ? undefined : known - micro
  }

  function receiptOf(micro: number, remainingMicro: number | undefined): Receipt {
    const isMetered = taken.verdict.credits !== null && remainingMicro !== undefined
    return { ...quoteOf(micro, parts.creditUsd), remainingCredits: isMetered ? displayedBalance(remainingMicro) : null }
  }
}

/** The free request is counted where it is claimed, and costs nothing. Its receipt says what it would have cost. */
export function freeLease(rates: Rates, creditUsd: number): Lease {
  const quote = (usage: Usage): Quote => quoteOf(costMicro(usage, rates), creditUsd)
  return {
    verdict: null,
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

/** A caller who hangs up is not a server that stops: that one says why. */
export const hasCallerLeft = (signal: AbortSignal): boolean => signal.aborted && !isFault(signal.reason)

const renewalOf = ({ principal, requestId }: LeaseTerms): Renewal => ({
  organization: principal.organization.id,
  project: principal.projectId,
  key: principal.id,
  requestId,
})

function tokensOf(outcome: ChargeOutcome, usage: Usage, reserved: number): number {
  const counted = { used: totalTokens(usage), input: totalInputTokens(usage), none: 0, reserved }
  return counted[whoPays[outcome].tokens]
}

type Ending = { readonly usage: Usage; readonly atMs: number }

/** The row that the ledger gets; none for a request that used nothing. */
function chargeOf(taken: LeaseTerms, outcome: ChargeOutcome, { usage, atMs }: Ending): Charge | undefined {
  if (!isWritten(outcome)) return undefined
  const { principal, requestId, model, rates, verdict } = taken
  const { reasoningTokens: _, ...tokens } = usage
  const isCharged = verdict.credits !== null && whoPays[outcome].isPaid
  return {
    requestId,
    organizationId: principal.organization.id,
    projectId: principal.projectId,
    keyId: principal.id,
    model,
    atMs,
    outcome,
    sliceId: verdict.credits?.sliceId ?? null,
    micro: isCharged ? costMicro(usage, rates) : 0,
    usage: tokens,
    rates,
  }
}
