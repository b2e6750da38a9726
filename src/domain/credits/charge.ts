import type { Usage } from '../inference/events.ts'
import type { Rates } from './rates.ts'

/** How a request that was admitted ended. */
export type ChargeOutcome =
  | 'answered'
  | 'aborted' // by its caller, after the answer had begun
  | 'broken_off' // by the upstream or by us, after the answer had begun
  | 'failed' // before the answer had begun
  | 'left' // by its caller, before the answer had begun
  | 'blocked' // by a check, before the upstream was asked
  | 'orphaned' // its node died; nobody knows

/** Who pays for what. Callers pay for what they were given, or turned away; whatever else goes wrong costs them nothing. */
export const whoPays: Readonly<Record<ChargeOutcome, { readonly isPaid: boolean; readonly tokens: CountedTokens }>> = {
  answered: { isPaid: true, tokens: 'used' },
  aborted: { isPaid: true, tokens: 'used' },
  broken_off: { isPaid: false, tokens: 'used' },
  failed: { isPaid: false, tokens: 'none' },
  left: { isPaid: false, tokens: 'input' },
  blocked: { isPaid: false, tokens: 'input' },
  orphaned: { isPaid: false, tokens: 'reserved' },
}

/** Which tokens count against the limits; those of an orphan stay reserved until they leave the window. */
export type CountedTokens = 'used' | 'input' | 'none' | 'reserved'

/** Outcomes that leave a row in the ledger: those that used something, and those that nobody can tell of. */
export const recordedOutcomes = ['answered', 'aborted', 'broken_off', 'orphaned'] as const
export type RecordedOutcome = (typeof recordedOutcomes)[number]

/** What a request used, what that cost, and why: the receipt. For one request the first that is recorded decides. */
export type Charge = {
  readonly requestId: string
  readonly organizationId: string
  readonly projectId: string
  readonly keyId: string
  readonly model: string
  readonly atMs: number
  readonly outcome: RecordedOutcome
  /** The slice that its credits were held from; null where nothing is metered. */
  readonly sliceId: string | null
  readonly micro: number
  readonly usage: Omit<Usage, 'reasoningTokens'>
  readonly rates: Rates
}

export const isRecorded = (outcome: ChargeOutcome): outcome is RecordedOutcome =>
  recordedOutcomes.some((one) => one === outcome)
