import { dayMs, type Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Actor, WithAuditRecord } from '../mutations/audit-log.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import { nothingLeftOut, type CalibrationStore, type JudgeCalibration } from './calibration.ts'
import type { JudgeCountStore, SeenModel } from './counts.ts'
import { driftKinds, driftOf, modelChangeText, type DriftKind, type JudgeAlarm } from './drift.ts'
import type { JudgeVersion, VersionAt } from './judge.ts'

export type JudgeAlarmStore = {
  open(organizationId: string): Promise<readonly JudgeAlarm[]>
  /** Returns false if one of this kind is open for the version. */
  begin(alarm: JudgeAlarm): Promise<boolean>
  /** Returns false if none is open. */
  end(of: VersionAt & { readonly kind: DriftKind }, atMs: number): Promise<boolean>
  /** Keeps what an upstream reports. Returns the model that it reported before; undefined if there was none. */
  replaceSeen(model: SeenModel): Promise<string | undefined>
}

export type WatchStores = {
  readonly alarms: JudgeAlarmStore
  readonly calibrations: Pick<CalibrationStore, 'insert' | 'latest'>
  readonly counts: Pick<JudgeCountStore, 'days'>
}

type WatchParts = {
  readonly reads: WatchStores
  readonly mutate: AuditedMutation<WatchStores>
  /** The active versions of all organizations. */
  readonly activeVersions: () => Promise<readonly JudgeVersion[]>
  readonly clock: Clock
  readonly ids: Ids
  /** Called once for each alarm that begins, by the node that noticed it. */
  readonly onAlarm: (kind: DriftKind, alarm: JudgeAlarm) => void
}

/** Notices drift: starts the nightly checks, and begins and ends alarms. Several nodes may do it at once. */
export function createJudgeWatch({ reads, mutate, activeVersions, clock, ids, onAlarm }: WatchParts) {
  return {
    /** A job calls it. */
    async run(): Promise<void> {
      for (const version of await activeVersions()) {
        await startNight(version)
        await compare(version)
      }
    },

    /** Another model at an upstream that the judge has asked before. */
    async onSeen(model: SeenModel): Promise<void> {
      const begun = await mutate(
        serviceOf(model),
        async ({ alarms }): Promise<WithAuditRecord<JudgeAlarm | undefined>> => {
          const before = await alarms.replaceSeen(model)
          if (before === undefined || before === model.model) return { value: undefined }
          const text = modelChangeText(model.upstream, before, model.model)
          return begin(alarms, { ...alarmOf(model, 'model', text) })
        },
      )
      if (begun) onAlarm('model', begun)
    },
  }

  async function startNight(version: JudgeVersion): Promise<void> {
    const { organizationId, judgeId, version: number, fixed } = version
    const night = Math.floor(clock.nowMs() / dayMs)
    if (fixed.items.length === 0 || Math.floor((version.activatedAtMs ?? 0) / dayMs) === night) return
    const nowMs = clock.nowMs()
    const check: JudgeCalibration = {
      id: ids('cal'),
      organizationId,
      judgeId,
      version: number,
      subject: subjectOf(version),
      kind: 'drift',
      night,
      status: 'running',
      items: fixed.items,
      leftOut: nothingLeftOut,
      total: fixed.items.length,
      done: 0,
      report: null,
      error: null,
      createdBy: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }
    const last = await reads.calibrations.latest({ organizationId, judgeId, version: number, kind: 'drift' })
    if (last?.night === night) return
    await mutate(serviceOf(version), async ({ calibrations }) => ({ value: await calibrations.insert(check) }))
  }

  async function compare(version: JudgeVersion): Promise<void> {
    const { organizationId, judgeId, version: number } = version
    const at = { organizationId, judgeId, version: number }
    const today = Math.floor(clock.nowMs() / dayMs)
    const days = await reads.counts.days(at, Math.floor((version.activatedAtMs ?? 0) / dayMs))
    const nightly = await reads.calibrations.latest({ ...at, kind: 'drift' })
    const found = driftOf({ version, nightly, days, today })
    const open = (await reads.alarms.open(organizationId)).filter(
      (alarm) => alarm.judgeId === judgeId && alarm.version === number,
    )
    for (const kind of driftKinds) {
      const drift = found.find((each) => each.kind === kind)
      const isOpen = open.some((alarm) => alarm.kind === kind)
      if (drift && !isOpen) {
        const begun = await mutate(serviceOf(version), ({ alarms }) => begin(alarms, alarmOf(at, kind, drift.text)))
        if (begun) onAlarm(kind, begun)
      }
      if (!drift && isOpen && (await hasEnded(version, kind)))
        await mutate(serviceOf(version), ({ alarms }) => end(alarms, { ...at, kind }))
    }
  }

  /** Another model stays until the version is calibrated again. */
  async function hasEnded({ organizationId, judgeId, version }: JudgeVersion, kind: DriftKind): Promise<boolean> {
    if (kind !== 'model') return true
    const open = await reads.alarms.open(organizationId)
    const alarm = open.find((each) => each.kind === kind && each.judgeId === judgeId && each.version === version)
    const last = await reads.calibrations.latest({ organizationId, judgeId, version, kind: 'calibration' })
    return alarm !== undefined && last !== undefined && last.createdAtMs > alarm.sinceMs
  }

  async function begin(alarms: JudgeAlarmStore, alarm: JudgeAlarm): Promise<WithAuditRecord<JudgeAlarm | undefined>> {
    if (!(await alarms.begin(alarm))) return { value: undefined }
    const { judgeId, version, kind, text } = alarm
    return {
      value: alarm,
      record: { kind: 'judge_alarm.fired', resourceId: judgeId, details: { alarm: kind, version, text } },
    }
  }

  async function end(
    alarms: JudgeAlarmStore,
    of: VersionAt & { readonly kind: DriftKind },
  ): Promise<WithAuditRecord<undefined>> {
    if (!(await alarms.end(of, clock.nowMs()))) return { value: undefined }
    const { judgeId, version, kind } = of
    return {
      value: undefined,
      record: { kind: 'judge_alarm.resolved', resourceId: judgeId, details: { alarm: kind, version } },
    }
  }

  function alarmOf({ organizationId, judgeId, version }: VersionAt, kind: DriftKind, text: string): JudgeAlarm {
    return { id: ids('alm'), organizationId, judgeId, version, kind, text, sinceMs: clock.nowMs() }
  }
}

/** Identifies what a version asks: the model and the digest of the prompt. */
export const subjectOf = ({ model, digest }: Pick<JudgeVersion, 'model' | 'digest'>): string => `${model}@${digest}`

const serviceOf = ({ organizationId }: Pick<VersionAt, 'organizationId'>): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})
