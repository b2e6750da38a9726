import { hash } from 'node:crypto'
import { endOfSecondMs, type Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { CaseRevision, CaseStore, GatewayCase } from '../cases/case.ts'
import type { GatewayCaseResult } from '../cases/run.ts'
import type { GatewayBacktestAdministration, GatewayBacktestStore } from '../evaluation/backtest/gateway-create.ts'
import {
  unsaved,
  type GatewayConfiguration,
  type RolloutShare,
  type SavedConfiguration,
} from '../gateway-config/configuration.ts'
import { digestOf, type ConfigurationAdministration } from '../gateway-config/mutations.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import { checksOf, stateOf } from './checks.ts'
import {
  findRun,
  isTooOld,
  requireOtherPerson,
  runToPass,
  staleRun,
  summaryOfCases,
  type GateRun,
  type GateStore,
} from './gate-run.ts'
import { passOrThrow, type GateReport } from './outcome.ts'
import { requiresReplay, type GateSettings } from './settings.ts'
import { readGate } from './stored-settings.ts'

export type ConfigurationGateStores = {
  readonly gateway: GatewayStore
  readonly gatewayCases: CaseStore<GatewayCase>
  readonly backtests: GatewayBacktestStore
  readonly gate: GateStore
}

/** The results of the cases with the configuration. They are found before the transaction. */
export type GatewayCaseOutcome = {
  readonly cases: readonly GatewayCase[]
  readonly results: readonly GatewayCaseResult[]
}

/** A configuration that is tried or saved. */
export type GatedConfiguration = {
  readonly organizationId: string
  readonly config: GatewayConfiguration
  /** The key or member. */
  readonly by: string
  readonly outcome: GatewayCaseOutcome
}

export type GatedSave = GatedConfiguration & {
  /** Without it, the newest run counts if it is of this configuration; without any, one that only runs the cases. */
  readonly runId: string | undefined
  /** The caller has checked the permission. */
  readonly overrideReason: string | undefined
  /** From `If-Match`: a save after this time is a conflict. */
  readonly seenAtMs: number | null | undefined
}

type Parts = {
  readonly ids: Ids
  readonly clock: Clock
  readonly configurations: Pick<ConfigurationAdministration, 'save'>
  readonly backtests: Pick<GatewayBacktestAdministration, 'start'>
}

export type ConfigurationGate = ReturnType<typeof createConfigurationGate>

const dayMs = 24 * 60 * 60 * 1000
const notReplayed = 'Requests were not replayed. Run the gate first.'

/** The publish gate in front of the gateway configuration. It has the settings of the organization. */
export function createConfigurationGate({ ids, clock, configurations, backtests }: Parts) {
  return {
    /** Throws if the gate is not passed. The audit record says what it found, and who overrode it. */
    async save(stores: ConfigurationGateStores, save: GatedSave): Promise<WithAuditRecord<SavedConfiguration>> {
      const passed = await pass(stores, save)
      const saved = await configurations.save(stores.gateway, { ...save, savedBy: save.by })
      if (saved.record === undefined || passed === undefined) return saved
      const details = { ...saved.record.details, gate: passed }
      return { ...saved, record: { ...saved.record, details } }
    },

    start,

    report,

    /** Once by each person. */
    async approve(
      stores: ConfigurationGateStores,
      of: { readonly organizationId: string; readonly id: string },
      by: string,
    ): Promise<WithAuditRecord<GateReport>> {
      const run = await findRun(stores.gate, { ...of, policyId: null })
      if ((await report(stores, run)).isStale) throw staleRun(run)
      requireOtherPerson(run, by)
      const isNew = await stores.gate.approve(run, { by, atMs: clock.nowMs() })
      const value = await report(stores, await findRun(stores.gate, run))
      if (!isNew) return { value }
      return { value, record: approvalRecord(run) }
    },
  }

  /** What the audit record of a save says about the gate; undefined if nothing is required. Throws if it is not passed. */
  async function pass(
    stores: ConfigurationGateStores,
    save: GatedSave,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { organizationId, config, runId, overrideReason } = save
    const { effective } = await settingsOf(stores, organizationId)
    const isNeeded = (await needsRun(stores, save, effective)) && !(await isFree(stores, save))
    if (!isNeeded && runId === undefined) return undefined
    const digest = digestWith(config, await stores.gatewayCases.revisions({ organizationId, policyId: null }))
    const known = await runToPass(stores.gate, { organizationId, policyId: null }, runId)
    const counts = runId !== undefined || (known?.digest === digest && !isTooOld(known, clock.nowMs()))
    const run = (counts && known) || (await start(stores, { ...save, replayProblem: notReplayed })).value.run
    const found = await reportOf(stores, run, isEnforced(config))
    return passOrThrow({ ...found, isStale: found.isStale || run.digest !== digest }, { isNeeded, overrideReason })
  }

  /** What a run means now. Whether a save is of its configuration is checked by the save. */
  function report(stores: ConfigurationGateStores, run: GateRun): Promise<GateReport> {
    return reportOf(stores, run, run.backtestId !== null || run.replayProblem !== null)
  }

  async function start(
    stores: ConfigurationGateStores,
    {
      organizationId,
      config,
      by,
      outcome,
      replayProblem,
    }: GatedConfiguration & { readonly replayProblem: string | null },
  ): Promise<WithAuditRecord<GateReport>> {
    const { effective } = await settingsOf(stores, organizationId)
    const isEnforcing = isEnforced(config)
    const isReplayed = isEnforcing && effective.replay.level !== 'off'
    const backtest =
      isReplayed && replayProblem === null
        ? (await backtests.start(stores.backtests, organizationId, { ...replayedBy(effective, clock.nowMs()), config }))
            .value
        : undefined
    const run: GateRun = {
      id: ids('gate'),
      organizationId,
      policyId: null,
      revision: ((await stores.gateway.find(organizationId)) ?? unsaved).version,
      digest: digestWith(config, outcome.cases),
      cases: summaryOfCases(outcome),
      backtestId: backtest?.id ?? null,
      replayProblem: isReplayed ? replayProblem : null,
      author: by,
      approvals: [],
      createdBy: by,
      createdAtMs: clock.nowMs(),
    }
    await stores.gate.insertRun(run)
    const details = { gateway_config_digest: digestOf(config), backtest_id: run.backtestId }
    return {
      value: await reportOf(stores, run, isEnforcing),
      record: { kind: 'gate_run.created', resourceId: run.id, details },
    }
  }

  async function reportOf(stores: ConfigurationGateStores, run: GateRun, isEnforcing: boolean): Promise<GateReport> {
    const { organizationId, backtestId } = run
    const { effective } = await settingsOf(stores, organizationId)
    const nowMs = clock.nowMs()
    const checks = checksOf({
      settings: effective,
      run,
      backtest: backtestId === null ? undefined : await stores.backtests.find(organizationId, null, backtestId),
      monitored: undefined,
      isEnforcing,
      nowMs,
    })
    const cases = await stores.gatewayCases.revisions({ organizationId, policyId: null })
    const isStale = isTooOld(run, nowMs) || !run.digest.endsWith(digestOfCases(cases))
    return { run, checks, state: stateOf(checks), isStale }
  }
}

const approvalRecord = (run: GateRun): AuditRecord => ({
  kind: 'gate_run.approved',
  resourceId: run.id,
  details: { gateway_config_digest: digestInRun(run) },
})

/** Which requests are replayed. */
function replayedBy({ replay: { days, max_events: limit } }: GateSettings, nowMs: number) {
  const toMs = endOfSecondMs(nowMs)
  return { fromMs: toMs - days * dayMs, toMs, limit }
}

/** A configuration has a rollout of its own, so the gate does not ask for hours in monitoring. */
async function settingsOf({ gate }: ConfigurationGateStores, organizationId: string) {
  const { effective } = await readGate(gate, { organizationId, policyId: null })
  return { effective: { ...effective, shadow: { ...effective.shadow, level: 'off' as const } } }
}

async function needsRun(
  { gatewayCases }: ConfigurationGateStores,
  { organizationId, config }: GatedSave,
  effective: GateSettings,
): Promise<boolean> {
  if (effective.approvals.level === 'require') return true
  if (isEnforced(config) && requiresReplay(effective)) return true
  if (effective.cases.level !== 'require') return false
  const cases = await gatewayCases.revisions({ organizationId, policyId: null })
  return cases.some(({ weight }) => weight === 'must')
}

/** The way out is always free: what is in force or was before, and a rollout to fewer requests. */
async function isFree({ gateway }: ConfigurationGateStores, { organizationId, config }: GatedSave): Promise<boolean> {
  const { config: current, version } = (await gateway.find(organizationId)) ?? unsaved
  if (version === 0) return false
  const isSameExceptRollout = digestOf({ ...config, rollout: current.rollout }) === digestOf(current)
  if (isSameExceptRollout && isNarrower(current, config)) return true
  return gateway.hasVersion(organizationId, config)
}

const isForAll = ({ enabled, sample_percent: percent, targets }: RolloutShare): boolean =>
  enabled && percent === 100 && targets.length === 0

/** False if a shadow keeps the configuration from having an effect on any request. */
const isEnforced = ({ rollout }: GatewayConfiguration): boolean => !isForAll(rollout.shadow)

function isNarrower({ rollout: before }: GatewayConfiguration, { rollout: after }: GatewayConfiguration): boolean {
  if (isForAll(after.shadow)) return true
  const isSameShadow = JSON.stringify(before.shadow) === JSON.stringify(after.shadow)
  const isSameTargets = JSON.stringify(before.canary.targets) === JSON.stringify(after.canary.targets)
  const share = ({ enabled, sample_percent: percent }: RolloutShare): number => (enabled ? percent : 100)
  const hasCanary = after.canary.enabled && (isSameTargets || !before.canary.enabled)
  return isSameShadow && (hasCanary || !before.canary.enabled) && share(after.canary) <= share(before.canary)
}

const digestWith = (config: GatewayConfiguration, cases: readonly CaseRevision[]): string =>
  `${digestOf(config)}.${digestOfCases(cases)}`

const digestOfCases = (cases: readonly CaseRevision[]): string =>
  hash(
    'sha256',
    cases
      .map(({ id, revision }) => `${id} ${revision}`)
      .sort()
      .join(),
    'hex',
  )

const digestInRun = ({ digest }: GateRun): string => digest.slice(0, digest.indexOf('.'))
