import type { Charge, WrittenOutcome } from './charge.ts'

/** granted = available + held + spent, always. */
export type Balance = {
  readonly grantedMicro: number
  /** Not in any slice. A negative amount is a debt. */
  readonly availableMicro: number
  /** In slices, minus what was spent from them. */
  readonly heldMicro: number
  readonly spentMicro: number
}

/** The balance of an organization without any ledger entry. */
export const noBalance: Balance = { grantedMicro: 0, availableMicro: 0, heldMicro: 0, spentMicro: 0 }

/** What an organization can still spend, including the holds of running requests. */
export const remainingMicro = ({ grantedMicro, spentMicro }: Balance): number => grantedMicro - spentMicro

export type SliceState = 'open' | 'closing' | 'closed'

/** Credits granted to one epoch of a limit store: the shared one, or one node's own. */
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

/** At least `leastMicro` or nothing; `wantedMicro` if available; more from a large balance, for the requests that follow. */
export type SliceRequest = { readonly leastMicro: number; readonly wantedMicro: number }

/** `exists`: this epoch already has an open slice. */
export type OpenedSlice =
  | { readonly result: 'opened' | 'exists'; readonly slice: Slice }
  | { readonly result: 'insufficient'; readonly availableMicro: number }

/** `takenMicro` 0: no credits were available. `retired`: the slice is no longer open. */
export type ToppedUpSlice =
  | {
      readonly result: 'topped-up'
      readonly slice: Slice
      readonly takenMicro: number
      readonly availableMicro: number
    }
  | { readonly result: 'retired' }

/** The ledger's row for a request, whichever attempt wrote it. */
export type Settled = {
  readonly outcome: WrittenOutcome
  readonly micro: number
  /** False: an earlier attempt wrote the row, and these are its values. */
  readonly isFirst: boolean
  /** Whether the request's slice may still be spent from. */
  readonly isSliceOpen: boolean
  /** What the organization has left after this. */
  readonly remainingMicro: number
}

/** The port to the ledger. Every method is one transaction, which is durable when the promise resolves. */
export type LedgerStore = {
  /** The first charge of a request wins. Charges that arrive together share a commit. */
  settle(charge: Charge): Promise<Settled>
  balance(organizationId: string): Promise<Balance | undefined>
  openSlice(slice: NewSlice, request: SliceRequest): Promise<OpenedSlice>
  topUpSlice(id: string, request: SliceRequest): Promise<ToppedUpSlice>
  /** Marks the slice as closing: no new holds; late charges are still paid from it. */
  retireSlice(id: string): Promise<void>
  /** Returns the rest to the balance. Charges that arrive even later are paid from the available credits. */
  closeSlice(id: string): Promise<void>
  /** All slices that are not closed. */
  liveSlices(): Promise<readonly Slice[]>
  /** The difference between the account's held credits and the sum of its slices. Anything but 0 is a bug. */
  drift(organizationId: string): Promise<number>
  /** The state of a slice, and what was settled from it except by these requests, in one consistent read. */
  settledOf(sliceId: string, except: readonly string[]): Promise<{ state: SliceState; micro: number } | undefined>
}

/** A gift or purchase of credits. A repeated `ref` changes nothing. */
export type NewGrant = {
  readonly organizationId: string
  readonly kind: 'grant' | 'payment'
  readonly ref: string
  readonly micro: number
  readonly note: string
}

/** Works inside the transaction of an administrative mutation. */
export type GrantStore = {
  /** False: this `ref` was granted before. */
  grant(grant: NewGrant): Promise<boolean>
  /**
   * Takes credits back that are in no slice. `isNew` is false if this `ref` was corrected before; then nothing changes.
   * If `availableMicro` is below 0 afterwards, the caller must roll the transaction back.
   */
  correct(correction: Omit<NewGrant, 'kind'>): Promise<{ readonly isNew: boolean; readonly availableMicro: number }>
}
