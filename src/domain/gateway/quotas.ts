import type { Clock } from '../../base/clock.ts'
import type { Eventually } from '../../base/eventually.ts'
import type { Ids } from '../../base/ids.ts'
import { claimsOf, overQuota, type QuotaClaim, type QuotaRequest } from './quota.ts'
import type { QuotaStore } from './quota-store.ts'

/**
 * What a request has taken of its quotas. That it was made stays counted; its tokens are corrected to what it used, and
 * to none where it is disposed of before anybody said.
 */
export type QuotaPlace = AsyncDisposable & {
  /** The first word counts. Never fails: where it cannot be written, the estimate stays. */
  settle(usedTokens: number): Promise<void>
}

type NamedRequest = QuotaRequest & { readonly requestId: string }

export type Quotas = {
  /** Refuses with `rate_limit_exceeded` where a quota has no room for the request; then nothing was taken of any. */
  take(request: NamedRequest): Eventually<QuotaPlace>
}

export type QuotasParts = {
  readonly store: QuotaStore
  readonly clock: Clock
  readonly ids: Ids
  readonly onSettleFailed: (error: unknown, requestId: string) => void
}

export function createQuotas({ store, clock, ids, onSettleFailed }: QuotasParts): Quotas {
  return {
    take(request) {
      const nowMs = clock.nowMs()
      const claims = claimsOf(request, nowMs)
      return claims.length === 0 ? boundless : takeAll(claims, request, nowMs)
    },
  }

  async function takeAll(claims: readonly QuotaClaim[], request: NamedRequest, nowMs: number): Promise<QuotaPlace> {
    const { tokens, requestId } = request
    const full = await store.take(claims, tokens)
    if (full) throw overQuota(full, request, { nowMs, eventId: ids('evt') })
    let settled: Promise<void> | undefined
    const settle = (usedTokens: number): Promise<void> =>
      (settled ??= store.correct(claims, usedTokens - tokens).catch((error) => onSettleFailed(error, requestId)))
    const giveBack = (): Promise<void> => settle(0)
    return { settle, [Symbol.asyncDispose]: giveBack }
  }
}

/** Nothing was taken, so nothing is to be corrected. */
const settled = Promise.resolve()
export const boundless: QuotaPlace = { settle: () => settled, [Symbol.asyncDispose]: () => settled }
