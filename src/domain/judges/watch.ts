import { dayMs, type Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Actor, WithAuditRecord } from '../mutations/audit-log.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import { beginAlarm, createEndUnusedAlarms, endAlarm, isInUse, type JudgeAlarmStore } from './alarms.ts'
import { nothingLeftOut, type CalibrationStore, type JudgeCalibration } from './calibration.ts'
import type { JudgeCountStore, SeenModel } from './counts.ts'
import { driftKinds, driftOf, modelChangeText, type DriftKind, type JudgeAlarm } from './drift.ts'
import type { JudgeStore, VersionAt } from './judge.ts'
import type { WatchedJudge } from './watched.ts'

export type WatchStores = {
  readonly judges: Pick<JudgeStore, 'inForce'>
  readonly judgeAlarms: JudgeAlarmStore
  readonly calibrations: Pick<CalibrationStore, 'insert' | 'latest'>
  readonly counts: Pick<JudgeCountStore, 'days'>
}

export type JudgeWatchParts = {
  readonly reads: WatchStores
  readonly mutate: AuditedMutation<WatchStores>
  /** The judges in force of all organizations. */
  readonly findWatched: () => Promise<readonly WatchedJudge[]>
  /** Organizations with an open alarm. */
  readonly findAlarmed: () => Promise<readonly string[]>
  readonly hasFileJudge: boolean
  readonly clock: Clock
  readonly ids: Ids
  /** Called once for each alarm that begins, by the node that noticed it. */
  readonly onAlarm: (kind: DriftKind, alarm: JudgeAlarm) => void
}

/** Notices drift: starts the nightly checks, and begins and ends alarms. Several nodes may do it at once. */
export function createJudgeWatch(parts: JudgeWatchParts) {
  const { reads, mutate, hasFileJudge, clock, ids, onAlarm } = parts
  const endUnused = createEndUnusedAlarms({ clock, hasFileJudge })
  return {
    /** A job calls it. */
    async run(): Promise<void> {
      for (const judge of await parts.findWatched()) {
        await startNight(judge)
        await compare(judge)
      }
      for (const organizationId of await parts.findAlarmed()) await endOthers(organizationId)
    },

    /** Another model at an upstream that the judge has asked before. */
    async onSeen(model: SeenModel): Promise<void> {
      const begun = await mutate(
        serviceOf(model.organizationId),
        async ({ judges, judgeAlarms }): Promise<WithAuditRecord<JudgeAlarm | undefined>> => {
          const before = await judgeAlarms.replaceSeen(model)
          if (before === undefined || before === model.model) return { value: undefined }
          const text = modelChangeText(model.upstream, before, model.model)
          return beginIfInUse({ judges, judgeAlarms }, alarmOf(model, 'model', text))
        },
      )
      if (begun) onAlarm('model', begun)
    },
  }

  async function startNight(judge: WatchedJudge): Promise<void> {
    const { organizationId, judgeId, version, fixed } = judge
    const nowMs = clock.nowMs()
    const night = dayOf(nowMs)
    if (fixed.items.length === 0 || dayOf(judge.sinceMs ?? 0) === night) return
    const check = nightlyCheck(judge, { id: ids('cal'), night, nowMs })
    const last = await reads.calibrations.latest({ organizationId, judgeId, version, kind: 'drift' })
    if (last?.night === night) return
    const insert = async ({ calibrations }: WatchStores) => ({ value: await calibrations.insert(check) })
    await mutate(serviceOf(organizationId), insert)
  }

  async function compare(judge: WatchedJudge): Promise<void> {
    const { organizationId, judgeId, version, fixed } = judge
    const at = { organizationId, judgeId, version }
    const today = dayOf(clock.nowMs())
    const base = judge.sinceMs === null ? undefined : dayOf(judge.sinceMs)
    const days = await reads.counts.days(at, base ?? today - 1)
    const found = driftOf({ fixed, nightly: await nightlyOf(judge), days, hasBase: base !== undefined, today })
    const open = (await reads.judgeAlarms.open(organizationId)).filter(
      (alarm) => alarm.judgeId === judgeId && alarm.version === version,
    )
    for (const kind of driftKinds) {
      const drift = found.find((each) => each.kind === kind)
      const alarm = open.find((each) => each.kind === kind)
      if (drift && !alarm) await begin(alarmOf(at, kind, drift.text))
      if (!drift && alarm && (await hasEnded(alarm))) await end(alarm)
    }
  }

  /** A check of other labels, or of another model, says nothing about these. */
  async function nightlyOf({ organizationId, judgeId, version, subject, sinceMs }: WatchedJudge) {
    const last = await reads.calibrations.latest({ organizationId, judgeId, version, kind: 'drift' })
    return last?.subject === subject && last.createdAtMs >= (sinceMs ?? 0) ? last : undefined
  }

  /** Also of organizations without a judge in force. */
  async function endOthers(organizationId: string): Promise<void> {
    await mutate(serviceOf(organizationId), async (stores) => ({
      value: undefined,
      further: await endUnused(stores, organizationId),
    }))
    // A shadow is not compared with itself, but a calibration ends the alarm about its model as well.
    for (const alarm of await reads.judgeAlarms.open(organizationId))
      if (alarm.kind === 'model' && (await hasEnded(alarm))) await end(alarm)
  }

  /** Another model stays until the version is calibrated again. */
  async function hasEnded({ organizationId, judgeId, version, kind, sinceMs }: JudgeAlarm): Promise<boolean> {
    if (kind !== 'model') return true
    const last = await reads.calibrations.latest({ organizationId, judgeId, version, kind: 'calibration' })
    return last !== undefined && last.createdAtMs > sinceMs
  }

  async function begin(alarm: JudgeAlarm): Promise<void> {
    const begun = await mutate(serviceOf(alarm.organizationId), (stores) => beginIfInUse(stores, alarm))
    if (begun) onAlarm(alarm.kind, begun)
  }

  /** It may have been taken out of use since it was read. A version that is only calibrated has no alarm either. */
  async function beginIfInUse(
    { judges, judgeAlarms }: Pick<WatchStores, 'judges' | 'judgeAlarms'>,
    alarm: JudgeAlarm,
  ): Promise<WithAuditRecord<JudgeAlarm | undefined>> {
    const inForce = await judges.inForce(alarm.organizationId)
    return isInUse(inForce, alarm, hasFileJudge) ? beginAlarm(judgeAlarms, alarm) : { value: undefined }
  }

  async function end(alarm: JudgeAlarm): Promise<void> {
    await mutate(serviceOf(alarm.organizationId), async ({ judgeAlarms }) => {
      const record = await endAlarm(judgeAlarms, alarm, { atMs: clock.nowMs(), inUse: true })
      return { value: undefined, ...(record && { record }) }
    })
  }

  function alarmOf({ organizationId, judgeId, version }: VersionAt, kind: DriftKind, text: string): JudgeAlarm {
    return { id: ids('alm'), organizationId, judgeId, version, kind, text, sinceMs: clock.nowMs() }
  }
}

type Night = { readonly id: string; readonly night: number; readonly nowMs: number }

const nightlyCheck = (
  { organizationId, judgeId, version, subject, fixed: { items } }: WatchedJudge,
  { id, night, nowMs }: Night,
): JudgeCalibration => ({
  id,
  organizationId,
  judgeId,
  version,
  subject,
  kind: 'drift',
  night,
  status: 'running',
  items,
  leftOut: nothingLeftOut,
  total: items.length,
  done: 0,
  report: null,
  error: null,
  createdBy: null,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
})

const dayOf = (ms: number): number => Math.floor(ms / dayMs)

const serviceOf = (organizationId: string): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})
