import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Ids } from '../../base/ids.ts'
import { claimsOf, overQuota, remainingFor, type QuotaClaim, type QuotaRequest, type QuotaShortage } from './quota.ts'
import type { QuotaStore, Reservation } from './quota-store.ts'

/**
 * What a request has taken of its quotas. That it was made stays counted; the tokens reserved for it are corrected to
 * what it used, and to none where it is disposed of before anybody said.
 */
export type QuotaReservation = AsyncDisposable & {
  /** How long the answer may be: what was asked for, or what the quotas have left. */
  readonly maxOutputTokens: number
  /** The first word counts. Never fails: where it cannot be written, the reservation stays until it expires. */
  settle(usedTokens: number): Promise<void>
}

type NamedRequest = QuotaRequest & { readonly requestId: string }

export type QuotaReservations = {
  /** Refuses with `rate_limit_exceeded` where a quota has no room for the request; then nothing was taken of any. */
  take(request: NamedRequest): MaybePromise<QuotaReservation>
}

export type QuotaReservationsParts = {
  readonly store: QuotaStore
  readonly clock: Clock
  readonly ids: Ids
  /** Longer than the longest request: after this a reservation belongs to a process that died. */
  readonly holdMs: number
  readonly onSettleFailed: (error: unknown, requestId: string) => void
}

/** Each failed try means that another request took or gave back tokens in between; this many in a row are a refusal. */
const maxTries = 10

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
    const { inputTokens, outputTokens, requestId } = request
    let settled: Promise<void> | undefined
    const settle = (usedTokens: number): Promise<void> =>
      (settled ??= store.settle(claims, taken, usedTokens).catch((error) => onSettleFailed(error, requestId)))
    const giveBack = (): Promise<void> => settle(0)
    const maxOutputTokens = limitsTokens(claims) ? taken.tokens - inputTokens : outputTokens
    return { maxOutputTokens, settle, [Symbol.asyncDispose]: giveBack }
  }

  /** Asks for all that the answer may use, then for as much of it as the quotas have left. */
  async function reserve(
    claims: readonly QuotaClaim[],
    request: QuotaRequest,
    { id, expiresAtMs }: Pick<Reservation, 'id' | 'expiresAtMs'>,
  ): Promise<Reservation | QuotaShortage> {
    const wanted = limitsTokens(claims) ? request.inputTokens + request.outputTokens : 0
    let tokens = wanted
    for (let tries = 1; ; tries++) {
      const reservation = { id, tokens, expiresAtMs }
      const full = await store.take(claims, reservation)
      if (full === undefined) return reservation
      const room = remainingFor(request, claims, await store.used(claims))
      if ('full' in room) return room.full
      if (tries === maxTries) return { claim: full, isHeld: true }
      tokens = Math.min(wanted, room.tokens)
    }
  }
}

const limitsTokens = (claims: readonly QuotaClaim[]): boolean => claims.some(({ quota }) => quota.tokens > 0)

/** Nothing was taken, so nothing is to be corrected. */
const settled = Promise.resolve()
export const boundless: QuotaReservation = {
  maxOutputTokens: Infinity,
  settle: () => settled,
  [Symbol.asyncDispose]: () => settled,
}
