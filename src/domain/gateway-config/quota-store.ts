import type { QuotaClaim, QuotaUse } from './quota.ts'

/** Tokens held for one request until it is settled. */
export type Reservation = {
  readonly id: string
  /** 0 reserves nothing. */
  readonly tokens: number
  /** After this time the tokens are released, because the request has ended or its process has crashed. */
  readonly expiresAtMs: number
}

/** Storage of quota usage, exact over all nodes. */
export type QuotaStore = {
  /**
   * Counts one request and reserves its tokens under every claim, if none of them is exhausted. Otherwise changes nothing
   * and returns the first exhausted claim.
   */
  take(claims: readonly QuotaClaim[], reservation: Reservation): Promise<QuotaClaim | undefined>
  /** The usage of each claim, in the same order. */
  used(claims: readonly QuotaClaim[]): Promise<readonly QuotaUse[]>
  /** Replaces the reserved tokens by the used tokens, also if the reservation has expired. */
  settle(claims: readonly QuotaClaim[], reservation: Reservation, usedTokens: number): Promise<void>
  /** Releases reservations that expired by this time. */
  releaseExpired(nowMs: number): Promise<void>
  /** Deletes windows that ended before this time. */
  removeEnded(beforeMs: number): Promise<void>
}
