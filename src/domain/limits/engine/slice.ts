import type { AdmissionRequest, CreditStatus, Grant } from '../admission.ts'
import type { GrantResult } from '../store.ts'
import type { CreditHold, Tenant } from './tenant.ts'

/** A metered request needs a slice that covers it. A slice in debt covers nothing, not even a request that costs 0. */
export function canHold(tenant: Tenant, request: AdmissionRequest): boolean {
  if (request.mode === 'count' || request.micro === null) return true
  return tenant.slice !== null && request.micro <= tenant.slice.leftMicro
}

/** For a duplicate, the slice of its first admission. */
export function creditStatus({ tenant, request, epoch }: CreditParties): CreditStatus | null {
  if (request.mode === 'count' || request.micro === null) return null
  const hold = request.mode === 'full' ? tenant.holds.get(request.requestId) : undefined
  const sliceId = hold === undefined ? (tenant.slice?.sliceId ?? null) : hold.sliceId
  return { epoch, sliceId, leftMicro: tenant.slice?.leftMicro ?? 0 }
}

type CreditParties = { readonly tenant: Tenant; readonly request: AdmissionRequest; readonly epoch: string }

/** Opens a slice, or tops up the open one. A lower amount has arrived late and changes nothing. */
export function topUp(tenant: Tenant, { organization, epoch, sliceId, amountMicro, opens }: Grant): GrantResult {
  if (tenant.slice === null) {
    if (!opens) return 'stale'
    tenant.slice = { organization, epoch, sliceId, amountMicro, leftMicro: amountMicro }
    return 'granted'
  }
  if (tenant.slice.sliceId !== sliceId) return 'taken'
  const more = Math.max(0, amountMicro - tenant.slice.amountMicro)
  tenant.slice.amountMicro += more
  tenant.slice.leftMicro += more
  return 'granted'
}

/** Returns the excess of the estimate to the slice. If the estimate was too low, the slice pays the rest and may go into debt. */
export function settleCredits({ slice }: Tenant, hold: CreditHold, usedMicro: number): void {
  if (slice === null || hold.micro === null || slice.sliceId !== hold.sliceId) return
  slice.leftMicro += hold.micro - usedMicro
}
