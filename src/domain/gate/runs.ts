import { createHash } from 'node:crypto'
import { endOfSecondMs, type Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { CaseRevision, CaseStore, PolicyCase } from '../cases/case.ts'
import type { CaseResult } from '../cases/run.ts'
import type { BacktestStore } from '../evaluation/backtest/backtest.ts'
import type { BacktestAdministration } from '../evaluation/backtest/create.ts'
import type { DecisionHours } from '../evaluation/spikes/decision-counts.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { contentBody, isSameContent } from '../policy/content.ts'
import { requireRevision } from '../policy/lifecycle.ts'
import { findPolicy, type PolicyAt } from '../policy/mutations.ts'
import type { Policy } from '../policy/policy.ts'
import { expressionOf } from '../policy/rule.ts'
import type { PolicyStore } from '../policy/store.ts'
import { checksOf, stateOf, type JudgeFactsStore, type Monitored } from './checks.ts'
import {
  findRun,
  isTooOld,
  requireOtherPerson,
  staleRun,
  summaryOfCases,
  type GateRun,
  type GateStore,
} from './gate-run.ts'
import type { GateReport } from './outcome.ts'
import type { GateSettings } from './settings.ts'
import { readGate } from './stored-settings.ts'

export type GateStores = {
  readonly policies: PolicyStore
  readonly cases: CaseStore
  readonly backtests: BacktestStore
  readonly gate: GateStore
  readonly decisions: DecisionHours
  readonly judges: JudgeFactsStore
}

/** The results of the cases on the draft. They are found before the transaction, because a judge may be asked. */
export type CaseOutcome = { readonly cases: readonly PolicyCase[]; readonly results: readonly CaseResult[] }

/** Who starts a run, and what the cases said. */
export type RunStart = {
  readonly startedBy: string
  readonly outcome: CaseOutcome
  /** Why no requests are replayed, even if the gate asks for it. */
  readonly replayProblem: string | null
}

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

type GateRunsParts = {
  readonly ids: Ids
  readonly clock: Clock
  readonly backtests: Pick<BacktestAdministration, 'start'>
}

export type GateRuns = ReturnType<typeof createGateRuns>

/** Starts, reads and approves runs of the gate. */
export function createGateRuns({ ids, clock, backtests }: GateRunsParts) {
  return {
    report,

    async start(stores: GateStores, at: PolicyAt, start: RunStart): Promise<WithAuditRecord<GateReport>> {
      const policy = await findPolicy(stores.policies, at.organizationId, at.id)
      requireRevision(policy, at.revision)
      const { startedBy, outcome, replayProblem } = start
      const { organizationId, id: policyId } = policy
      const { effective } = await readGate(stores.gate, { organizationId, policyId })
      const isReplayed = replayProblem === null && needsReplay(policy, effective)
      const backtest = isReplayed ? await startBacktest(stores, policy, effective.replay) : undefined
      const run: GateRun = {
        id: ids('gate'),
        organizationId,
        policyId,
        revision: policy.revision,
        digest: digestOf(policy, outcome.cases),
        cases: summaryOfCases(outcome),
        backtestId: backtest?.id ?? null,
        replayProblem,
        author: await stores.gate.draftAuthor(organizationId, policyId),
        approvals: [],
        createdBy: startedBy,
        createdAtMs: clock.nowMs(),
      }
      await stores.gate.insertRun(run)
      const { revision, digest, backtestId } = run
      const details = { policy_id: policyId, revision, digest, backtest_id: backtestId }
      return {
        value: await report(stores, run, policy),
        record: { kind: 'gate_run.created', resourceId: run.id, details },
      }
    },

    /** Once by each person. */
    async approve(
      stores: GateStores,
      of: { readonly organizationId: string; readonly policyId: string; readonly id: string },
      by: string,
    ): Promise<WithAuditRecord<GateReport>> {
      const policy = await findPolicy(stores.policies, of.organizationId, of.policyId)
      const run = await findRun(stores.gate, of)
      if ((await report(stores, run, policy)).isStale) throw staleRun(run)
      requireOtherPerson(run, by)
      const approval = { by, atMs: clock.nowMs() }
      const isNew = await stores.gate.approve(run, approval)
      const value = await report(stores, await findRun(stores.gate, of), policy)
      const details = { policy_id: of.policyId, revision: run.revision, digest: run.digest }
      if (!isNew) return { value }
      return { value, record: { kind: 'gate_run.approved', resourceId: run.id, details } }
    },
  }

  /** The checks of a run by the settings of now. */
  async function report(stores: GateStores, run: GateRun, policy: Policy): Promise<GateReport> {
    const { organizationId, id: policyId } = policy
    const { effective } = await readGate(stores.gate, { organizationId, policyId })
    const nowMs = clock.nowMs()
    const backtest =
      run.backtestId === null ? undefined : await stores.backtests.find(organizationId, policyId, run.backtestId)
    const isEnforcing = policy.draft.mode === 'enforcing'
    const checks = checksOf({
      settings: effective,
      run,
      backtest,
      monitored: isEnforcing ? await monitoredOf(stores.decisions, policy) : undefined,
      judge: expressionOf(policy.draft.rule) === undefined ? await stores.judges.factsOf(organizationId) : undefined,
      isEnforcing,
      nowMs,
    })
    const digest = digestOf(policy, await stores.cases.revisions({ organizationId, policyId }))
    const isStale = digest !== run.digest || isTooOld(run, nowMs)
    return { run, checks, state: stateOf(checks), isStale }
  }

  async function startBacktest(stores: GateStores, policy: Policy, replay: GateSettings['replay']) {
    const toMs = endOfSecondMs(clock.nowMs())
    const of = { organizationId: policy.organizationId, policyId: policy.id }
    const choice = { fromMs: toMs - replay.days * dayMs, toMs, limit: replay.max_events }
    return (await backtests.start(stores, of, choice)).value
  }
}

/** A draft in monitoring denies nothing. */
function needsReplay({ draft }: Policy, { replay }: GateSettings): boolean {
  return draft.mode === 'enforcing' && replay.level !== 'off'
}

/** Of all that a run depends on: the content of the draft, and the cases. */
function digestOf({ draft }: Policy, cases: readonly CaseRevision[]): string {
  const body = contentBody(draft)
  const content = { ...body, project_ids: [...body.project_ids].sort() }
  const revisions = cases.map(({ id, revision }) => `${id} ${revision}`).sort()
  return createHash('sha256')
    .update(JSON.stringify([content, revisions]))
    .digest('hex')
}

/** The counts of the current version, if it is the draft in monitoring. */
async function monitoredOf(decisions: DecisionHours, policy: Policy): Promise<Monitored | undefined> {
  const { organizationId, id, draft, published, state } = policy
  if (published === null || state !== 'monitoring') return undefined
  if (!isSameContent({ ...draft, mode: 'monitoring' }, published)) return undefined
  const { version, publishedAtMs } = published
  const hours = await decisions.hours(organizationId, [id], Math.floor(publishedAtMs / hourMs))
  const own = hours.filter((hour) => hour.version === version)
  return {
    sinceMs: publishedAtMs,
    requests: own.reduce((sum, { recordedRequests }) => sum + recordedRequests, 0),
    matches: own.reduce((sum, { recordedDenials }) => sum + recordedDenials, 0),
  }
}
