import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { isSameContent } from '../policy/content.ts'
import { requireRevision, type PublicationNote } from '../policy/lifecycle.ts'
import { expressionOf } from '../policy/rule.ts'
import { findPolicy, type PolicyAdministration, type PolicyAt } from '../policy/mutations.ts'
import { summaryOf, type Policy } from '../policy/policy.ts'
import { runToPass, type GateOwner } from './gate-run.ts'
import { passOrThrow, type GateReport } from './outcome.ts'
import type { CaseOutcome, GateRuns, GateStores } from './runs.ts'
import { requiresReplay } from './settings.ts'
import { readGate } from './stored-settings.ts'

export type GatedPublication = {
  readonly note: PublicationNote
  /** The share of users that the version is enforced for. Default: everybody. */
  readonly rolloutPercent?: number | undefined
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
      const { note, rolloutPercent } = publication
      const policy = await findPolicy(stores.policies, at.organizationId, at.id)
      requireRevision(policy, at.revision)
      const gate = isFree(policy) ? undefined : await passGate(stores, policy, publication)
      const { value, record } = await policies.publish(stores.policies, at, { ...note, rolloutPercent })
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
    return passOrThrow(report, { isNeeded, overrideReason })
  }

  /** Of the named run, of the newest one, or of one that has only run the cases. */
  async function reportOf(stores: GateStores, policy: Policy, publication: GatedPublication): Promise<GateReport> {
    const { runId, outcome, note } = publication
    const known = await runToPass(stores.gate, ownerOf(policy), runId)
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
  if (effective.judge.level === 'require' && expressionOf(draft.rule) === undefined) return true
  const asksForTraffic = requiresReplay(effective) || effective.shadow.level === 'require'
  if (draft.mode === 'enforcing' && asksForTraffic) return true
  if (effective.cases.level !== 'require') return false
  return (await cases.revisions({ organizationId, policyId: id })).some(({ weight }) => weight === 'must')
}

const ownerOf = ({ organizationId, id }: Policy): GateOwner => ({ organizationId, policyId: id })
