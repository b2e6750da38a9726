import { Fault } from '../../base/fault.ts'
import type { AnyCase } from '../cases/case.ts'
import type { caseStates } from '../cases/run.ts'
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
  /** Null for a gateway configuration. */
  readonly policyId: string | null
  /** Of the policy; of a gateway configuration the version that it would replace. */
  readonly revision: number
  /** Of the content, and of the cases that it was run with. A publication of any other content is not covered. */
  readonly digest: string
  readonly cases: CaseSummary
  /** Null if no requests are replayed; `replayProblem` says why. */
  readonly backtestId: string | null
  readonly replayProblem: string | null
  /** Who last changed the draft, or sent the configuration; null if the audit log no longer has it. */
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
  findRun(organizationId: string, policyId: string | null, id: string): Promise<GateRun | undefined>
  /** The newest run. */
  latestRun(organizationId: string, policyId: string | null): Promise<GateRun | undefined>
  listRuns(organizationId: string, policyId: string | null, page: Page): Promise<Paged<GateRun>>
  /** Returns false if this person has approved it before. */
  approve(run: Pick<GateRun, 'organizationId' | 'id'>, approval: Approval): Promise<boolean>
  /** The key or member that last changed the draft of a policy, by the audit log. */
  draftAuthor(organizationId: string, policyId: string): Promise<string | null>
}

const dayMs = 24 * 60 * 60 * 1000
const maxExamples = 20

/** An older run says too little about the requests of today. */
export const isTooOld = ({ createdAtMs }: GateRun, nowMs: number): boolean => nowMs - createdAtMs > dayMs

type CaseRun = {
  readonly cases: readonly Pick<AnyCase, 'id' | 'weight'>[]
  readonly results: readonly { readonly caseId: string; readonly state: (typeof caseStates)[number] }[]
}

export function summaryOfCases({ cases, results }: CaseRun): CaseSummary {
  const weightOf = new Map(cases.map(({ id, weight }) => [id, weight]))
  const failed = results.filter(({ state }) => state !== 'passed')
  const failedMust = failed.filter(({ caseId }) => weightOf.get(caseId) === 'must').map(({ caseId }) => caseId)
  return {
    must: cases.filter(({ weight }) => weight === 'must').length,
    failed: failedMust.length,
    failedIds: failedMust.slice(0, maxExamples),
    shouldFailed: failed.length - failedMust.length,
  }
}

type RunId = Pick<GateRun, 'organizationId' | 'policyId' | 'id'>

export async function findRun(store: Pick<GateStore, 'findRun'>, of: RunId): Promise<GateRun> {
  const { organizationId, policyId, id } = of
  const run = await store.findRun(organizationId, policyId, id)
  if (run) return run
  throw new Fault('not_found', 'not_found', `There is no run ${id} of the gate of ${subjectOf(of)}.`)
}

/** The run that a publication names, or the newest one. */
export async function runToPass(
  store: GateStore,
  owner: GateOwner,
  runId: string | undefined,
): Promise<GateRun | undefined> {
  const { organizationId, policyId } = owner
  if (runId === undefined) return store.latestRun(organizationId, policyId)
  const run = await store.findRun(organizationId, policyId, runId)
  if (run) return run
  const message = `gate_run: there is no run ${runId} of the gate of ${subjectOf(owner)}.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'gate_run' })
}

const subjectOf = ({ policyId }: Pick<GateRun, 'policyId'>): string =>
  policyId === null ? 'the gateway configuration' : `the policy ${policyId}`

export function requireOtherPerson({ author }: GateRun, by: string): void {
  if (author !== by) return
  const message = `${by} made the last change, so another person has to approve it.`
  throw new Fault('conflict', 'invalid_state', message)
}

export const staleRun = ({ id }: GateRun): Fault =>
  new Fault(
    'conflict',
    'gate_stale',
    `The run ${id} does not count: its content or its cases have changed since, or it is older than a day. Run the gate again.`,
    { param: 'gate_run' },
  )
