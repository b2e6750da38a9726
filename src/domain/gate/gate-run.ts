import type { Page, Paged } from '../identity/store.ts'
import type { OwnGateSettings } from './settings.ts'

/** How the cases of weight `must` did on the draft. A case that could not be evaluated has not passed. */
export type CaseSummary = {
  readonly must: number
  readonly failed: number
  /** Ids of cases that failed, at most twenty. */
  readonly failedIds: readonly string[]
  /** Cases of weight `should` that failed. They are reported only. */
  readonly shouldFailed: number
}

export type Approval = { readonly by: string; readonly atMs: number }

/** One attempt of a draft at the gate. What it found is fixed, except for its backtest and its approvals. */
export type GateRun = {
  readonly id: string
  readonly organizationId: string
  readonly policyId: string
  readonly revision: number
  /** Of the content of the draft, and of the cases that it was run with. A publication of any other content is not covered. */
  readonly digest: string
  readonly cases: CaseSummary
  /** Null if no requests are replayed; `replayProblem` says why. */
  readonly backtestId: string | null
  readonly replayProblem: string | null
  /** Who last changed the draft; null if the audit log no longer has it. */
  readonly author: string | null
  readonly approvals: readonly Approval[]
  readonly createdBy: string
  readonly createdAtMs: number
}

/** The gate of an organization, or what one of its policies adds to it. */
export type StoredGate = { readonly settings: OwnGateSettings; readonly revision: number; readonly updatedAtMs: number }

/** Whose gate: the organization's, or that of one policy. */
export type GateOwner = { readonly organizationId: string; readonly policyId: string | null }

export type GateStore = {
  findSettings(owner: GateOwner): Promise<StoredGate | undefined>
  /** Compare-and-set: writes only if the stored settings have the revision before, or if there are none before the first. */
  saveSettings(owner: GateOwner, gate: StoredGate): Promise<boolean>
  insertRun(run: GateRun): Promise<void>
  findRun(organizationId: string, policyId: string, id: string): Promise<GateRun | undefined>
  /** The newest run of the policy. */
  latestRun(organizationId: string, policyId: string): Promise<GateRun | undefined>
  listRuns(organizationId: string, policyId: string, page: Page): Promise<Paged<GateRun>>
  /** Returns false if this person has approved it before. */
  approve(run: Pick<GateRun, 'organizationId' | 'id'>, approval: Approval): Promise<boolean>
  /** The key or member that last changed the draft of a policy, by the audit log. */
  draftAuthor(organizationId: string, policyId: string): Promise<string | null>
}
