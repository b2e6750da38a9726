import type { LimitSettlement } from '../admission.ts'
import { settleCredits } from './slice.ts'
import { add, takeBack, type SlidingWindow } from './sliding-window.ts'
import { freeSlot, takeSlot, type SlotLease, type ScopeStates, type Tenant } from './tenant.ts'

/** Ends a request: frees its slot, and corrects its tokens and credits to what it really used. */
export function settleTokens(tenant: Tenant, states: ScopeStates, settlement: LimitSettlement): 'settled' | 'gone' {
  freeSlot(tenant, settlement.requestId)
  const hold = tenant.holds.get(settlement.requestId)
  if (hold === undefined) return 'gone'
  tenant.holds.delete(settlement.requestId)
  settleCredits(tenant, hold, settlement.micro)
  for (const { tpm, tpd } of states) {
    correct(tpm, settlement.tokens - hold.tokens, hold.admittedAtMs)
    correct(tpd, settlement.tokens - hold.tokens, hold.admittedAtMs)
  }
  return 'settled'
}

/** An excess is returned to the slot in which it was reserved. A shortage counts from now on, so that it limits the caller. */
function correct(window: SlidingWindow, difference: number, reservedAtMs: number): void {
  if (difference < 0) takeBack(window, reservedAtMs, -difference)
  else add(window, difference)
}

/** Also restores a slot that expired while its request was still running. */
export function renew(tenant: Tenant, requestId: string, lease: SlotLease): void {
  const hold = tenant.holds.get(requestId)
  if (hold === undefined || hold.deadlineMs <= tenant.clockMs) return
  freeSlot(tenant, requestId)
  takeSlot(tenant, requestId, lease)
}
