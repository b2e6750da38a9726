import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { thresholdOf } from '../policy/content.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { EndUnusedAlarms, JudgeAlarmStore } from './alarms.ts'
import type { JudgeCalibration, CalibrationStore } from './calibration.ts'
import { openConditions, takeOverConditions, type TakeOver, type TakeOverCondition } from './conditions.ts'
import {
  fileJudgeId,
  nightlyLabels,
  type FixedLabels,
  type JudgeStore,
  type JudgeVersion,
  type StoredJudge,
} from './judge.ts'
import { findJudge, findVersion, headOf, recordOf, type JudgeAt } from './mutations.ts'
import { fixedLabels } from './report.ts'

export type ActivationStores = {
  readonly judges: JudgeStore
  readonly calibrations: CalibrationStore
  readonly policies: Pick<PolicyStore, 'find'>
  readonly judgeAlarms: JudgeAlarmStore
}

type Activation = {
  readonly version: number | undefined
  /** Why the conditions do not count this time. The caller has checked the permission. */
  readonly overrideReason: string | undefined
}

export type ActivateJudge = ReturnType<typeof createActivateJudge>

/** Lets a version evaluate the rules of the organization. The version before is retired. */
export function createActivateJudge({
  clock,
  fileSubject,
  endUnusedAlarms,
}: {
  readonly clock: Clock
  readonly fileSubject: string | undefined
  readonly endUnusedAlarms: EndUnusedAlarms
}) {
  return { activate, conditions }

  async function activate(
    stores: ActivationStores,
    at: JudgeAt,
    { version: number, overrideReason }: Activation,
  ): Promise<WithAuditRecord<StoredJudge>> {
    const { judges } = stores
    const judge = await findJudge(judges, at)
    const version = await findVersion(judges, judge, number ?? judge.latest.version)
    if (version.state === 'active') return { value: judge }
    const takeOver = await takeOverOf(stores, version)
    const open = openConditions(takeOver)
    if (open.length > 0 && overrideReason === undefined) throw notCalibrated(judge.id, open)
    const { active: before } = await judges.inForce(at.organizationId)
    if (before) await judges.changeVersion(before, { state: 'retired', shareBasisPoints: 0 })
    const nowMs = clock.nowMs()
    const { calibration } = takeOver
    const fixed = await fixedOf(stores, calibration)
    await judges.changeVersion(version, { state: 'active', shareBasisPoints: 0, fixed, activatedAtMs: nowMs })
    const head = { ...headOf(judge), revision: judge.revision + 1, updatedAtMs: nowMs }
    if (!(await judges.touch(head, judge.revision)))
      throw new Fault('conflict', 'revision_conflict', 'The judge was changed at the same time. Read it again.')
    const details = {
      version: version.version,
      calibration_id: calibration?.id ?? null,
      kappa: calibration?.report?.kappa ?? null,
      before: before === undefined ? null : `${before.judgeId} ${before.version}`,
      ...(open.length > 0 && { override: { reason: overrideReason, open: open.map(({ kind }) => kind) } }),
    }
    const record = recordOf('judge.activated', judge, details)
    const further = await endUnusedAlarms(stores, at.organizationId)
    return { value: await findJudge(judges, at), record, further }
  }

  /** What stands between a version and its take-over. */
  async function conditions(stores: ActivationStores, version: JudgeVersion): Promise<TakeOverCondition[]> {
    return takeOverConditions(await takeOverOf(stores, version))
  }

  async function takeOverOf(
    { calibrations, judges }: ActivationStores,
    version: JudgeVersion,
  ): Promise<TakeOver & { readonly calibration: JudgeCalibration | undefined }> {
    const { organizationId } = version
    const calibration = await calibrations.latest({ ...version, kind: 'calibration' })
    const { active } = await judges.inForce(organizationId)
    const ofActive = await calibrations.latest({
      organizationId,
      judgeId: active?.judgeId ?? fileJudgeId,
      version: active?.version ?? 0,
      kind: 'calibration',
    })
    const isItself = active?.judgeId === version.judgeId && active.version === version.version
    const counts = !isItself && (active !== undefined || ofActive?.subject === fileSubject)
    return {
      calibration,
      report: calibration?.report ?? null,
      timeoutMs: version.timeoutMs,
      activeKappa: counts ? ofActive?.report?.kappa : undefined,
    }
  }
}

async function fixedOf(
  { calibrations, policies }: ActivationStores,
  calibration: JudgeCalibration | undefined,
): Promise<FixedLabels> {
  if (calibration === undefined) return { items: [], kappa: null }
  const answers = await calibrations.answers(calibration.id)
  const byPolicy = await thresholdsOf(policies, calibration)
  return fixedLabels(calibration, answers, { thresholdOf: byPolicy, most: nightlyLabels })
}

/** The score from which each policy of a calibration matches. */
export async function thresholdsOf(
  policies: Pick<PolicyStore, 'find'>,
  { organizationId, items }: Pick<JudgeCalibration, 'organizationId' | 'items'>,
): Promise<(policyId: string) => number> {
  const thresholds = new Map<string, number>()
  for (const policyId of new Set(items.map((item) => item.policyId))) {
    const policy = await policies.find(organizationId, policyId)
    if (policy) thresholds.set(policyId, thresholdOf(policy.published ?? policy.draft))
  }
  return (policyId) => thresholds.get(policyId) ?? 5_000
}

function notCalibrated(id: string, open: readonly TakeOverCondition[]): Fault {
  const message = `The judge ${id} cannot take over. ${open.map((each) => each.message).join(' ')}`
  return new Fault('conflict', 'judge_not_calibrated', message, {
    checks: open.map(({ kind, message: text }) => ({ kind, message: text })),
  })
}
