import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Ids } from '../../base/ids.ts'
import { claimsOf, overQuota, remainingFor, type QuotaClaim, type QuotaRequest, type QuotaShortage } from './quota.ts'
import type { QuotaStore, Reservation } from './quota-store.ts'

/**
 * The reservation of a request in its quotas. The request stays counted. `settle` replaces the reserved tokens by the used
 * ones; disposing without `settle` releases all of them.
 */
export type QuotaReservation = AsyncDisposable & {
  /** The maximum length of the answer: as requested, or what the quotas have left. Infinity if no quota limits tokens. */
  readonly maxOutputTokens: number
  /** Only the first call counts. Never fails: if the write fails, the reservation stays until it expires. */
  settle(usedTokens: number): Promise<void>
}

type NamedRequest = QuotaRequest & { readonly requestId: string }

export type QuotaReservations = {
  /** Throws `rate_limit_exceeded` if a quota is exhausted; nothing is then reserved. */
  take(request: NamedRequest): MaybePromise<QuotaReservation>
}

export type QuotaReservationsParts = {
  readonly store: QuotaStore
  readonly clock: Clock
  readonly ids: Ids
  /** Longer than the longest request, so an expired reservation belongs to a crashed process. */
  readonly holdMs: number
  readonly onSettleFailed: (error: unknown, requestId: string) => void
}

/** Each failed attempt means that another request changed the usage in between. The request is rejected after this many. */
const maxAttempts = 10

export function createQuotaReservations({
  store,
  clock,
  ids,
  holdMs,
  onSettleFailed,
}: QuotaReservationsParts): QuotaReservations {
  return {
    take(request) {
      const nowMs = clock.nowMs()
      const claims = claimsOf(request, nowMs)
      return claims.length === 0 ? boundless : takeAll(claims, request, nowMs)
    },
  }

  async function takeAll(
    claims: readonly QuotaClaim[],
    request: NamedRequest,
    nowMs: number,
  ): Promise<QuotaReservation> {
    const taken = await reserve(claims, request, { id: ids('qres'), expiresAtMs: nowMs + holdMs })
    if ('claim' in taken) throw overQuota(taken, request, { nowMs, eventId: ids('evt') })
    const { inputTokens, requestId } = request
    let settled: Promise<void> | undefined
    const settle = (usedTokens: number): Promise<void> =>
      (settled ??= store.settle(claims, taken, usedTokens).catch((error) => onSettleFailed(error, requestId)))
    const release = (): Promise<void> => settle(0)
    const maxOutputTokens = limitsTokens(claims) ? taken.tokens - inputTokens : Infinity
    return { maxOutputTokens, settle, [Symbol.asyncDispose]: release }
  }

  /** Tries to reserve all tokens that the answer may use, then as many as the quotas have left. */
  async function reserve(
    claims: readonly QuotaClaim[],
    request: QuotaRequest,
    { id, expiresAtMs }: Pick<Reservation, 'id' | 'expiresAtMs'>,
  ): Promise<Reservation | QuotaShortage> {
    const wanted = limitsTokens(claims) ? request.inputTokens + request.outputTokens : 0
    let tokens = wanted
    for (let attempts = 1; ; attempts++) {
      const reservation = { id, tokens, expiresAtMs }
      const full = await store.take(claims, reservation)
      if (full === undefined) return reservation
      const remaining = remainingFor(request, claims, await store.used(claims))
      if ('full' in remaining) return remaining.full
      if (attempts === maxAttempts) return { claim: full, isHeld: true }
      tokens = Math.min(wanted, remaining.tokens)
    }
  }
}

const limitsTokens = (claims: readonly QuotaClaim[]): boolean => claims.some(({ quota }) => quota.tokens > 0)

/** Nothing was reserved, so there is nothing to settle. */
const settled = Promise.resolve()
export const boundless: QuotaReservation = {
  maxOutputTokens: Infinity,
  settle: () => settled,
  [Symbol.asyncDispose]: () => settled,
}
