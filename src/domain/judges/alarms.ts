import type { AuditRecord, WithAuditRecord } from '../mutations/audit-log.ts'
import type { SeenModel } from './counts.ts'
import type { DriftKind, JudgeAlarm } from './drift.ts'
import { fileJudgeId, type JudgesInForce, type JudgeStore, type VersionAt } from './judge.ts'

export type JudgeAlarmStore = {
  open(organizationId: string): Promise<readonly JudgeAlarm[]>
  /** Returns false if one of this kind is open for the version. */
  begin(alarm: JudgeAlarm): Promise<boolean>
  /** Returns false if none is open. */
  end(of: VersionAt & { readonly kind: DriftKind }, atMs: number): Promise<boolean>
  /** Keeps what an upstream reports. Returns the model that it reported before; undefined if there was none. */
  replaceSeen(model: SeenModel): Promise<string | undefined>
}

/** Whether the gateway asks this version about requests. */
export function isInUse(
  { active, shadow }: JudgesInForce,
  { judgeId, version }: Pick<VersionAt, 'judgeId' | 'version'>,
  hasFileJudge: boolean,
): boolean {
  if (judgeId === fileJudgeId) return hasFileJudge && active === undefined
  return [active, shadow].some((each) => each?.judgeId === judgeId && each.version === version)
}

export async function beginAlarm(
  alarms: JudgeAlarmStore,
  alarm: JudgeAlarm,
): Promise<WithAuditRecord<JudgeAlarm | undefined>> {
  if (!(await alarms.begin(alarm))) return { value: undefined }
  const { judgeId, version, kind, text } = alarm
  return {
    value: alarm,
    record: { kind: 'judge_alarm.fired', resourceId: judgeId, details: { alarm: kind, version, text } },
  }
}

/** Undefined if no such alarm is open. */
export async function endAlarm(
  alarms: Pick<JudgeAlarmStore, 'end'>,
  of: VersionAt & { readonly kind: DriftKind },
  { atMs, inUse }: { readonly atMs: number; readonly inUse: boolean },
): Promise<AuditRecord | undefined> {
  if (!(await alarms.end(of, atMs))) return undefined
  const { judgeId, version, kind } = of
  const details = { alarm: kind, version, in_use: inUse }
  return { kind: 'judge_alarm.resolved', resourceId: judgeId, details }
}

type EndStores = {
  readonly judges: Pick<JudgeStore, 'inForce'>
  readonly judgeAlarms: Pick<JudgeAlarmStore, 'open' | 'end'>
}

export type EndUnusedAlarms = ReturnType<typeof createEndUnusedAlarms>

/** Ends the alarms of versions that no longer evaluate anything, in the transaction that takes them out of use. */
export function createEndUnusedAlarms({
  clock,
  hasFileJudge,
}: {
  readonly clock: { nowMs(): number }
  readonly hasFileJudge: boolean
}) {
  return async ({ judges, judgeAlarms }: EndStores, organizationId: string): Promise<readonly AuditRecord[]> => {
    const open = await judgeAlarms.open(organizationId)
    if (open.length === 0) return []
    const inForce = await judges.inForce(organizationId)
    const unused = open.filter((alarm) => !isInUse(inForce, alarm, hasFileJudge))
    const records: AuditRecord[] = []
    for (const alarm of unused) {
      const record = await endAlarm(judgeAlarms, alarm, { atMs: clock.nowMs(), inUse: false })
      if (record) records.push(record)
    }
    return records
  }
}
