import { Fault } from '../../base/fault.ts'

/** The run of `gatehouse apply` that may change an organization until the lease expires. */
export type ApplyLease = { readonly organizationId: string; readonly holder: string }

export type ApplyLeaseStore = {
  /** Takes or extends the lease. Returns false while another holder has it. */
  takeLease(lease: ApplyLease, times: { readonly nowMs: number; readonly expiresAtMs: number }): Promise<boolean>
  /** Does nothing if another holder has it. */
  releaseLease(lease: ApplyLease): Promise<void>
}

export const applyInProgress = (): Fault =>
  new Fault(
    'conflict',
    'apply_in_progress',
    'Another apply is changing this organization. Run the command again when it has ended; the lease of one that was killed expires within a minute.',
    { retryAfterSeconds: 1 },
  )
