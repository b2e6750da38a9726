import type { AdmissionRequest, CreditStatus, Grant } from '../admission.ts'
import type { GrantResult } from '../store.ts'
import type { CreditHold, Tenant } from './tenant.ts'

/** A metered request needs a slice that covers it. A slice in debt covers nothing, not even a request for free. */
export function canHold(tenant: Tenant, request: AdmissionRequest): boolean {
  if (request.mode === 'count' || request.micro === null) return true
  return tenant.slice !== null && request.micro <= tenant.slice.leftMicro
}

/** A duplicate names the slice that its first admission was held from. */
export function creditStatus({ tenant, request, epoch }: CreditParties): CreditStatus | null {
  if (request.mode === 'count' || request.micro === null) return null
  const hold = request.mode === 'full' ? tenant.holds.get(request.requestId) : undefined
  const sliceId = hold === undefined ? (tenant.slice?.sliceId ?? null) : hold.sliceId
  return { epoch, sliceId, leftMicro: tenant.slice?.leftMicro ?? 0 }
}

type CreditParties = { readonly tenant: Tenant; readonly request: AdmissionRequest; readonly epoch: string }

/** Opens a slice, or raises the open one; an amount that arrives late and is lower changes nothing. */
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

/** Gives back what the estimate was too high by; too low, the slice pays the rest and may fall into debt. */
export function settleCredits({ slice }: Tenant, hold: CreditHold, usedMicro: number): void {
  if (slice === null || hold.micro === null || slice.sliceId !== hold.sliceId) return
  slice.leftMicro += hold.micro - usedMicro
}
