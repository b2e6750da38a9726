import type { Page, Paged } from '../../identity/store.ts'
import type { CheckpointFinding } from '../chain/checkpoint.ts'
import type { ChainFinding } from '../chain/verify.ts'
import { isWhole, type LogReport, type VerifyCursor } from '../verify-log.ts'

export const verificationStates = ['running', 'completed', 'failed'] as const

/** A verification of an organization's log that runs in the background. */
export type Verification = {
  readonly id: string
  readonly organizationId: string
  readonly state: (typeof verificationStates)[number]
  /** The first sequence; null: the first event that is kept. */
  readonly from: number | null
  /** The last sequence; null: the end of the log. */
  readonly to: number | null
  readonly checked: number
  readonly total: number
  /** Where it continues after an interruption, as of `updatedAtMs`; null at the beginning and at the end. */
  readonly cursor: VerifyCursor | null
  /** Null until it is completed. */
  readonly result: VerificationResult | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export const faultyParts = ['event', 'checkpoint', 'key'] as const

/** The first thing that is wrong. */
export type FirstBad = {
  readonly part: (typeof faultyParts)[number]
  readonly sequence: number
  readonly reason: ChainFinding['reason'] | CheckpointFinding['reason'] | 'late' | 'untrusted' | 'replaced'
}

export type VerificationResult = {
  readonly isWhole: boolean
  readonly firstBad: FirstBad | null
  /** The last event that a valid signature covers; null if there is none. */
  readonly signedTo: number | null
  /** Events that should be signed by now and are not. */
  readonly overdueFrom: number | null
  /** Events whose texts were written under another server secret. */
  readonly uncheckedTexts: number
}

/** What a report says, in short. */
export function resultOf(report: LogReport): VerificationResult {
  const { finding, checkpointFinding, keyFindings, signed, unsigned } = report
  const bad: readonly FirstBad[] = [
    ...(finding ? [{ part: 'event' as const, ...finding }] : []),
    ...(checkpointFinding ? [{ part: 'checkpoint' as const, ...checkpointFinding }] : []),
    ...report.late.map(({ from }) => ({ part: 'checkpoint' as const, sequence: from, reason: 'late' as const })),
    ...keyFindings.flatMap(({ reason, from }) =>
      from === undefined ? [] : [{ part: 'key' as const, sequence: from, reason }],
    ),
  ]
  const [firstBad = null] = bad.toSorted((a, b) => a.sequence - b.sequence)
  return {
    isWhole: isWhole(report),
    firstBad: firstBad && { part: firstBad.part, sequence: firstBad.sequence, reason: firstBad.reason },
    signedTo: signed?.to ?? null,
    overdueFrom: unsigned?.isOverdue === true ? unsigned.from : null,
    uncheckedTexts: report.uncheckedTexts ?? 0,
  }
}

/** Stores verifications for the API. */
export type VerificationStore = {
  /** Returns false, and writes nothing, if one is running. Removes all but the newest of the organization. */
  insert(verification: Verification): Promise<boolean>
  find(organizationId: string, id: string): Promise<Verification | undefined>
  findRunning(organizationId: string): Promise<Verification | undefined>
  list(organizationId: string, page: Page): Promise<Paged<Verification>>
}

/** The work queue of the runner. One node at a time works on a verification, under a lease. */
export type VerificationQueue = {
  /** Leases a running verification that no node works on. */
  claim(): Promise<Verification | undefined>
  /** Saves the progress and renews the lease. Returns false, and writes nothing, if the lease was lost. */
  save(verification: Verification): Promise<boolean>
  release(id: string): Promise<void>
}
