import type { QuotaClaim, QuotaUse } from './quota.ts'

/** Tokens held for one request until it is settled. */
export type Reservation = {
  readonly id: string
  /** 0: nothing is reserved. */
  readonly tokens: number
  /** After this the request has ended, or its process has died: the tokens are released. */
  readonly expiresAtMs: number
}

/** What was used of quotas, exact over all nodes. */
export type QuotaStore = {
  /**
   * Counts one request and reserves its tokens under every claim where all of them have room; otherwise under none, and
   * answers the first that has not.
   */
  take(claims: readonly QuotaClaim[], reservation: Reservation): Promise<QuotaClaim | undefined>
  /** What was used under each claim, in their order. */
  used(claims: readonly QuotaClaim[]): Promise<readonly QuotaUse[]>
  /** Replaces what was reserved by what was used, also where the reservation has expired meanwhile. */
  settle(claims: readonly QuotaClaim[], reservation: Reservation, usedTokens: number): Promise<void>
  /** Releases reservations that expired by this time. */
  releaseExpired(nowMs: number): Promise<void>
  /** Forgets windows that ended before this time. */
  removeEnded(beforeMs: number): Promise<void>
}
