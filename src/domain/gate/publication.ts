import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { isSameContent } from '../policy/content.ts'
import { requireRevision, type PublicationNote } from '../policy/lifecycle.ts'
import { findPolicy, type PolicyAdministration, type PolicyAt } from '../policy/mutations.ts'
import { summaryOf, type Policy } from '../policy/policy.ts'
import { openChecks, type GateCheck } from './checks.ts'
import type { GateRun } from './gate-run.ts'
import { stale, type CaseOutcome, type GateReport, type GateRuns, type GateStores } from './runs.ts'
import type { GateSettings } from './settings.ts'
import { readGate } from './stored-settings.ts'

export type GatedPublication = {
  readonly note: PublicationNote
  /** Without it, the newest run counts; without any, one that only runs the cases. */
  readonly runId: string | undefined
  /** Why the gate does not count this time. The caller has checked the permission. */
  readonly overrideReason: string | undefined
  /** What the cases say about the draft, if `needsCases` asked for it. */
  readonly outcome: CaseOutcome | undefined
}

type Parts = {
  readonly policies: Pick<PolicyAdministration, 'publish'>
  readonly runs: Pick<GateRuns, 'report' | 'start'>
}

export type GatedPublications = ReturnType<typeof createGatedPublications>

/** Publishes drafts that have passed the gate. The audit record says what the gate found, and who overrode it. */
export function createGatedPublications({ policies, runs }: Parts) {
  return {
    async publish(stores: GateStores, at: PolicyAt, publication: GatedPublication): Promise<WithAuditRecord<Policy>> {
      const policy = await findPolicy(stores.policies, at.organizationId, at.id)
      requireRevision(policy, at.revision)
      const gate = isFree(policy) ? undefined : await passGate(stores, policy, publication)
      const { value, record } = await policies.publish(stores.policies, at, publication.note)
      if (record === undefined || gate === undefined) return { value, ...(record && { record }) }
      return { value, record: { ...record, details: { ...record.details, gate } } }
    },

    /** Whether the cases have to be run for a publication, because there is no run of this draft. */
    async needsCases(stores: GateStores, at: PolicyAt): Promise<boolean> {
      const policy = await findPolicy(stores.policies, at.organizationId, at.id)
      if (policy.revision !== at.revision || isFree(policy) || !(await needsRun(stores, policy))) return false
      const latest = await stores.gate.latestRun(at.organizationId, at.id)
      return latest === undefined || (await runs.report(stores, latest, policy)).isStale
    },
  }

  /** What the audit record says about the gate. Throws if it is not passed. */
  async function passGate(
    stores: GateStores,
    policy: Policy,
    publication: GatedPublication,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { runId, overrideReason } = publication
    const isNeeded = await needsRun(stores, policy)
    if (!isNeeded && runId === undefined) return undefined
    const report = await reportOf(stores, policy, publication)
    const problem = isNeeded ? problemOf(report) : undefined
    if (problem && overrideReason === undefined) throw problem
    return { ...recorded(report), ...(problem && { override: { reason: overrideReason, code: problem.code } }) }
  }

  /** Of the named run, of the newest one, or of one that has only run the cases. */
  async function reportOf(stores: GateStores, policy: Policy, publication: GatedPublication): Promise<GateReport> {
    const { runId, outcome, note } = publication
    const known = await runOf(stores, policy, runId)
    const report = known && (await runs.report(stores, known, policy))
    if (report && (runId !== undefined || !report.isStale)) return report
    const start = {
      startedBy: note.publishedBy ?? 'operator',
      outcome: outcome ?? { cases: [], results: [] },
      replayProblem: 'Requests were not replayed. Run the gate first.',
    }
    return (await runs.start(stores, policy, start)).value
  }
}

/** The way out of a policy is always free: a version that only lowers the mode needs no gate. */
function isFree(policy: Policy): boolean {
  const { draft, published } = policy
  if (!summaryOf(policy).hasUnpublishedChanges) return true // there is nothing to publish, which the publication says
  return published !== null && draft.mode === 'monitoring' && isSameContent({ ...published, mode: 'monitoring' }, draft)
}

/** Whether anything that applies to the draft is required. */
async function needsRun({ gate, cases }: GateStores, { organizationId, id, draft }: Policy): Promise<boolean> {
  const { effective } = await readGate(gate, { organizationId, policyId: id })
  if (effective.approvals.level === 'require') return true
  if (draft.mode === 'enforcing' && requiresReplay(effective)) return true
  if (effective.cases.level !== 'require') return false
  return (await cases.revisions({ organizationId, policyId: id })).some(({ weight }) => weight === 'must')
}

const requiresReplay = ({ replay, shadow }: GateSettings): boolean => {
  const { newly_blocked_bp: blocked, newly_allowed_bp: allowed, not_evaluated_bp: notEvaluated } = replay
  const hasLimit = blocked !== null || allowed !== null || notEvaluated !== null
  return shadow.level === 'require' || (replay.level === 'require' && hasLimit)
}

async function runOf({ gate }: GateStores, policy: Policy, runId: string | undefined): Promise<GateRun | undefined> {
  const { organizationId, id: policyId } = policy
  if (runId === undefined) return gate.latestRun(organizationId, policyId)
  const run = await gate.findRun(organizationId, policyId, runId)
  if (run) return run
  const message = `gate_run: there is no run ${runId} of the gate of the policy ${policyId}.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'gate_run' })
}

function problemOf(report: GateReport): Fault | undefined {
  if (report.isStale) return stale(report.run)
  const open = openChecks(report.checks)
  if (open.length === 0) return undefined
  const message = `The run ${report.run.id} has not passed the publish gate. ${open.map(({ message: each }) => each).join(' ')}`
  return new Fault('conflict', 'gate_not_passed', message, { param: 'gate_run', checks: open.map(checkBody) })
}

const recorded = ({ run, state, checks }: GateReport): Readonly<Record<string, unknown>> => ({
  run_id: run.id,
  digest: run.digest,
  state,
  checks: checks.map(checkBody),
  approved_by: run.approvals.map(({ by }) => by),
})

/** A check under the names of the API. */
export const checkBody = ({ limitBp, boundBp, examples, ...check }: GateCheck) => ({
  ...check,
  limit_bp: limitBp,
  bound_bp: boundBp,
  examples: [...examples],
})
