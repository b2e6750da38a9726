import type { Charge, RecordedOutcome } from './charge.ts'

/** granted = available + held + spent, always. */
export type Balance = {
  readonly grantedMicro: number
  /** In no slice. Below zero it is a debt. */
  readonly availableMicro: number
  /** In slices, less what was spent of them. */
  readonly heldMicro: number
  readonly spentMicro: number
}

/** Of an organization that the ledger has not heard of yet. */
export const noBalance: Balance = { grantedMicro: 0, availableMicro: 0, heldMicro: 0, spentMicro: 0 }

/** What an organization can still spend, holds of running requests included. */
export const remainingMicro = ({ grantedMicro, spentMicro }: Balance): number => grantedMicro - spentMicro

export type SliceState = 'open' | 'closing' | 'closed'

/** Credits in the hands of one life of a store of counters: those that all nodes share, or one node's own. */
export type Slice = {
  readonly id: string
  readonly organizationId: string
  readonly holder: 'shared' | 'node'
  readonly epoch: string
  readonly amountMicro: number
  readonly settledMicro: number
  readonly state: SliceState
  readonly closingAtMs: number | null
}

export type NewSlice = Pick<Slice, 'id' | 'organizationId' | 'holder' | 'epoch'>

/** `leastMicro` or nothing; `wantedMicro` if there is so much; and some for the next minute where the balance is large. */
export type SliceRequest = { readonly leastMicro: number; readonly wantedMicro: number }

/** `exists`: that life of the counters has an open slice already. */
export type OpenedSlice =
  | { readonly result: 'opened' | 'exists'; readonly slice: Slice }
  | { readonly result: 'insufficient'; readonly availableMicro: number }

/** `takenMicro` 0: nothing was to be had. `retired`: the slice is no longer open. */
export type ToppedUpSlice =
  | { readonly result: 'raised'; readonly slice: Slice; readonly takenMicro: number; readonly availableMicro: number }
  | { readonly result: 'retired' }

/** What stands in the ledger for a request, whoever wrote it. */
export type Settled = {
  readonly outcome: RecordedOutcome
  readonly micro: number
  /** False: somebody was there before, and this is what they wrote. */
  readonly isFirst: boolean
  /** Whether the request's slice may still be spent from. */
  readonly isSliceOpen: boolean
  /** What the organization has left after this. */
  readonly remainingMicro: number
}

/** The port to the ledger. Every method is one transaction, durable once it has resolved. */
export type LedgerStore = {
  /** The first row for a request decides. Charges that arrive together share a commit. */
  settle(charge: Charge): Promise<Settled>
  balance(organizationId: string): Promise<Balance | undefined>
  openSlice(slice: NewSlice, wish: SliceRequest): Promise<OpenedSlice>
  raiseSlice(id: string, wish: SliceRequest): Promise<ToppedUpSlice>
  /** Nothing more is to be taken from it; late charges still find their credits there. */
  retireSlice(id: string): Promise<void>
  /** Gives the rest back. A charge that comes even later is paid from what is available. */
  closeSlice(id: string): Promise<void>
  /** All that are not closed. */
  liveSlices(): Promise<readonly Slice[]>
  /** By how much the account's held credits differ from the sum of its slices. Anything but 0 is a bug of ours. */
  drift(organizationId: string): Promise<number>
  /** A slice's state, and what was settled of it by others than these requests, as of one moment. */
  settledOf(sliceId: string, except: readonly string[]): Promise<{ state: SliceState; micro: number } | undefined>
}

/** A gift or a purchase of credits. The same `ref` again changes nothing. */
export type NewGrant = {
  readonly organizationId: string
  readonly kind: 'grant' | 'payment'
  readonly ref: string
  readonly micro: number
  readonly note: string
}

/** Inside the transaction of an administrative change. */
export type GrantStore = {
  /** False: this `ref` was granted before. */
  grant(grant: NewGrant): Promise<boolean>
}
