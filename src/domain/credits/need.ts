import type { CreditStatus } from '../limits/admission.ts'
import type { SliceRequest } from './ledger-store.ts'

/** A request that the counters refused for credits: what it needs, and what they had. */
export type Need = { readonly organizationId: string; readonly micro: number; readonly standing: CreditStatus }

/** Enough for the smallest at least, for all of them if there is so much. What the counters have left counts, a debt too. */
export function sliceRequestOf(needs: readonly Need[]): SliceRequest {
  const left = needs.at(-1)?.standing.leftMicro ?? 0
  const least = Math.min(...needs.map(({ micro }) => micro)) - left
  const all = needs.reduce((sum, { micro }) => sum + micro, 0) - left
  return { leastMicro: Math.max(0, least), wantedMicro: Math.max(0, all) }
}
