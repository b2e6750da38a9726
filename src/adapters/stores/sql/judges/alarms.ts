import { driftKinds, type JudgeAlarm } from '../../../../domain/judges/drift.ts'
import type { JudgeAlarmStore } from '../../../../domain/judges/alarms.ts'
import type { Database, Transaction } from '../database.ts'
import { versionParams } from './judges.ts'

const columns = 'id, organization_id, judge_id, version, kind, text, since'
const ofVersion = 'organization_id = $1 and judge_id = $2 and version = $3'

/** Alarms about judges in SQL, in the given transaction. */
export const judgeAlarmStore = (tx: Transaction): JudgeAlarmStore => ({
  open: async (organizationId) =>
    (
      await tx.query<AlarmRow>(
        `select ${columns} from judge_alarm where organization_id = $1 and ended_at is null order by since, id`,
        [organizationId],
      )
    ).map(alarmOf),
  begin: async ({ id, organizationId, judgeId, version, kind, text, sinceMs }) =>
    (await tx.run(`insert into judge_alarm (${columns}) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`, [
      id,
      organizationId,
      judgeId,
      version,
      kind,
      text,
      sinceMs,
    ])) === 1,
  end: async ({ kind, ...of }, atMs) =>
    (await tx.run(`update judge_alarm set ended_at = $5 where ${ofVersion} and kind = $4 and ended_at is null`, [
      ...versionParams(of),
      kind,
      atMs,
    ])) === 1,
  async replaceSeen({ upstream, model, sinceMs, ...of }) {
    const named = `${ofVersion} and upstream = $4`
    const key = [...versionParams(of), upstream]
    // The row is locked, so that of two nodes one sees the model of the other.
    await tx.run(`update judge_seen set model = model where ${named}`, key)
    const [before] = await tx.query<{ model: string }>(`select model from judge_seen where ${named}`, key)
    if (before === undefined)
      await tx.run(
        `insert into judge_seen (organization_id, judge_id, version, upstream, model, since)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
        [...key, model, sinceMs],
      )
    else if (before.model !== model)
      await tx.run(`update judge_seen set model = $5, since = $6 where ${named}`, [...key, model, sinceMs])
    return before?.model
  },
})

export async function organizationsWithAlarms(database: Pick<Database, 'read'>): Promise<readonly string[]> {
  const sql = 'select distinct organization_id as id from judge_alarm where ended_at is null order by organization_id'
  return (await database.read<{ id: string }>(sql)).map(({ id }) => id)
}

type AlarmRow = {
  id: string
  organization_id: string
  judge_id: string
  version: number
  kind: string
  text: string
  since: number
}

const alarmOf = (row: AlarmRow): JudgeAlarm => ({
  id: row.id,
  organizationId: row.organization_id,
  judgeId: row.judge_id,
  version: row.version,
  kind: driftKinds.find((kind) => kind === row.kind) ?? 'failures',
  text: row.text,
  sinceMs: row.since,
})
