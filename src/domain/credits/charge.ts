import type { Tags } from '../costs/tags.ts'
import type { Usage } from '../inference/events.ts'
import type { Rates } from './rates.ts'

/** How a request that was admitted ended. */
export type ChargeOutcome =
  | 'answered'
  | 'aborted' // by its caller, after the answer had begun
  | 'broken_off' // by the upstream or the gateway, after the answer had begun
  | 'failed' // before the answer had begun
  | 'left' // by its caller, before the answer had begun
  | 'blocked' // by a check, before the upstream was called
  | 'orphaned' // its node died, so the outcome is unknown

/** Callers pay for what they received, and for an answer that they abandon. All other failures cost them nothing. */
export const chargeRules: Readonly<
  Record<ChargeOutcome, { readonly isPaid: boolean; readonly tokens: CountedTokens }>
> = {
  answered: { isPaid: true, tokens: 'used' },
  aborted: { isPaid: true, tokens: 'used' },
  broken_off: { isPaid: false, tokens: 'used' },
  failed: { isPaid: false, tokens: 'none' },
  left: { isPaid: false, tokens: 'input' },
  blocked: { isPaid: false, tokens: 'input' },
  orphaned: { isPaid: false, tokens: 'reserved' },
}

/** Which tokens count against the limits. Those of an orphan stay reserved until they leave the window. */
export type CountedTokens = 'used' | 'input' | 'none' | 'reserved'

/** Outcomes that are written to the ledger: the request used something, or it is unknown whether it did. */
export const writtenOutcomes = ['answered', 'aborted', 'broken_off', 'orphaned'] as const
export type WrittenOutcome = (typeof writtenOutcomes)[number]

/** The receipt of a request: what it used, at which rates, and what that cost. The first charge written for a request wins. */
export type Charge = {
  readonly requestId: string
  readonly organizationId: string
  readonly projectId: string
  readonly keyId: string
  readonly model: string
  /** The end user that the request named. Only sums of usage have it, not the ledger. */
  readonly userId?: string | undefined
  /** The same. */
  readonly tags?: Tags | undefined
  readonly atMs: number
  readonly outcome: WrittenOutcome
  /** The slice from which its credits were held; null for an organization without metering. */
  readonly sliceId: string | null
  readonly micro: number
  /** What it costs at its rates, also where nothing is charged. Left out: the same as `micro`, as in charges of the ledger. */
  readonly costMicro?: number
  readonly usage: Omit<Usage, 'reasoningTokens'>
  readonly rates: Rates
}

export const isWritten = (outcome: ChargeOutcome): outcome is WrittenOutcome =>
  writtenOutcomes.some((one) => one === outcome)
