import type { LimitSettlement } from '../admission.ts'
import { settleCredits } from './slice.ts'
import { add, takeBack, type SlidingWindow } from './sliding-window.ts'
import { freeSlot, takeSlot, type SlotLease, type ScopeStates, type Tenant } from './tenant.ts'

/** Ends a request: its place is free again, its tokens and credits are what it really used. */
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

/** Too much goes back to where it was reserved. Too little counts from now on, so that it really slows the caller. */
function correct(tally: SlidingWindow, difference: number, reservedAtMs: number): void {
  if (difference < 0) takeBack(tally, reservedAtMs, -difference)
  else add(tally, difference)
}

/** Also revives a place that expired while the request ran on: it is in flight, whatever its lease says. */
export function renew(tenant: Tenant, requestId: string, lease: SlotLease): void {
  const hold = tenant.holds.get(requestId)
  if (hold === undefined || hold.deadlineMs <= tenant.clockMs) return
  freeSlot(tenant, requestId)
  takeSlot(tenant, requestId, lease)
}
