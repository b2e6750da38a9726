import type { Clock } from '../../../../base/clock.ts'
import {
  calibrationKinds,
  calibrationStatuses,
  countLeftOut,
  nothingLeftOut,
  type JudgeCalibration,
  type CalibrationAnswer,
  type CalibrationItem,
  type CalibrationQueue,
  type CalibrationStore,
  type LeftOut,
} from '../../../../domain/judges/calibration.ts'
import type { CalibrationReport } from '../../../../domain/judges/calibration-report.ts'
import type { Database, Transaction, Value } from '../database.ts'
import { selectPage } from '../page.ts'

const columns =
  'id, organization_id, judge_id, version, subject, kind, night, status, items, left_out, left_out_by, total, done, report, error, created_by, created_at, updated_at'

const selectAnswers =
  'select item, round, score_bp, failure, ms, usd_micros from judge_answer where calibration_id = $1 order by item, round'

/** Calibrations in SQL, in the given transaction. */
export const calibrationStore = (tx: Transaction): CalibrationStore => ({
  insert: async (calibration) =>
    (await tx.run(
      `insert into judge_calibration (${columns}, lease_until)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 0) on conflict do nothing`,
      valuesOf(calibration),
    )) === 1,
  async find(organizationId, judgeId, id) {
    const [row] = await tx.query<CalibrationRow>(
      `select ${columns} from judge_calibration where organization_id = $1 and judge_id = $2 and id = $3`,
      [organizationId, judgeId, id],
    )
    return row && calibrationOf(row)
  },
  list: (organizationId, judgeId, page) =>
    selectPage(
      tx,
      {
        table: 'judge_calibration',
        columns,
        where: { organization_id: organizationId, judge_id: judgeId },
        map: calibrationOf,
      },
      page,
    ),
  async latest({ organizationId, judgeId, version, kind }) {
    const [row] = await tx.query<CalibrationRow>(
      `select ${columns} from judge_calibration
       where organization_id = $1 and judge_id = $2 and version = $3 and kind = $4 and status = 'completed'
       order by id desc limit 1`,
      [organizationId, judgeId, version, kind],
    )
    return row && calibrationOf(row)
  },
  answers: async (id) => (await tx.query<AnswerRow>(selectAnswers, [id])).map(answerOf),
  async countRunning(organizationId) {
    const [row] = await tx.query<{ count: number }>(
      `select count(*) as count from judge_calibration where organization_id = $1 and status = 'running'`,
      [organizationId],
    )
    return row?.count ?? 0
  },
  cancel: async ({ organizationId, id, error }, atMs) =>
    (await tx.run(
      `update judge_calibration set status = 'cancelled', error = $3, updated_at = $4
       where organization_id = $1 and id = $2 and status = 'running'`,
      [organizationId, id, error, atMs],
    )) === 1,
})

export type CalibrationQueueParts = {
  readonly database: Database
  readonly clock: Clock
  /** Identifies this process among all workers. */
  readonly owner: string
  readonly leaseMs: number
}

const isFree = `status = 'running' and lease_until <= $1`
const isHeld = `id = $1 and owner = $2 and status = 'running'`

/** The queue of running calibrations, shared by all nodes. */
export function calibrationQueue({ database, clock, owner, leaseMs }: CalibrationQueueParts): CalibrationQueue {
  return {
    async claim() {
      const nowMs = clock.nowMs()
      const sql = `select id from judge_calibration where ${isFree} order by id limit 1`
      const [free] = await database.read<{ id: string }>(sql, [nowMs])
      if (!free) return undefined
      const [claimed] = await database.write([
        {
          sql: `update judge_calibration set owner = $3, lease_until = $4 where ${isFree} and id = $2 returning ${columns}`,
          params: [nowMs, free.id, owner, nowMs + leaseMs],
        },
      ])
      const [row] = (claimed?.rows ?? []) as CalibrationRow[]
      return row && calibrationOf(row)
    },
    answers: async (id) => (await database.read<AnswerRow>(selectAnswers, [id])).map(answerOf),
    async saveAnswer({ id, organizationId }, { item, round, score, failure, ms, usdMicros }) {
      const nowMs = clock.nowMs()
      const [, renewed] = await database.write([
        {
          // Only the holder of the lease keeps an answer, so that none is counted twice.
          sql: `insert into judge_answer (calibration_id, organization_id, item, round, score_bp, failure, ms, usd_micros)
            select id, organization_id, $4, $5, $6, $7, $8, $9 from judge_calibration
            where ${isHeld} and organization_id = $3 on conflict do nothing`,
          params: [id, owner, organizationId, item, round, score, failure, Math.round(ms), usdMicros],
        },
        {
          sql: `update judge_calibration set lease_until = $3, updated_at = $4, error = null,
            done = (select count(*) from judge_answer where calibration_id = $1) where ${isHeld}`,
          params: [id, owner, nowMs + leaseMs, nowMs],
        },
      ])
      return renewed?.changed === 1
    },
    async end(calibration, { status, report, error, isCalibrated }) {
      const { id, organizationId, judgeId, version, kind } = calibration
      const nowMs = clock.nowMs()
      const ofVersion = 'organization_id = $1 and judge_id = $2 and version = $3'
      const completes = status === 'completed' && kind === 'calibration'
      const [ended] = await database.write([
        {
          sql: `update judge_calibration set status = $3, report = $4, error = $5, updated_at = $6,
            done = (select count(*) from judge_answer where calibration_id = $1) where ${isHeld}`,
          params: [id, owner, status, report && JSON.stringify(report), error, nowMs],
        },
        ...(completes
          ? [
              {
                sql: `update judge_version set calibration_id = $4 where ${ofVersion}`,
                params: [organizationId, judgeId, version, id],
              },
            ]
          : []),
        ...(completes && isCalibrated
          ? [
              {
                sql: `update judge_version set state = 'calibrated' where ${ofVersion} and state in ('draft', 'retired')`,
                params: [organizationId, judgeId, version],
              },
            ]
          : []),
      ])
      return ended?.changed === 1
    },
    async release(id, fromMs, error) {
      const sql = `update judge_calibration set owner = null, lease_until = $3, error = coalesce($4, error) where ${isHeld}`
      await database.write([{ sql, params: [id, owner, fromMs, error] }])
    },
  }
}

/** For the embedded database: it has one process, so at startup all leases belong to a process that has ended. */
export async function releaseCalibrationLeases(database: Database): Promise<void> {
  await database.write([{ sql: `update judge_calibration set owner = null, lease_until = 0 where status = 'running'` }])
}

/**
 * Deletes the checks for drift, and the calibrations that no version has, that ended before this time. Of the judge of the configuration
 * the last calibration of each organization is kept.
 */
export async function removeCalibrations(database: Database, beforeMs: number): Promise<void> {
  const old = `status <> 'running' and updated_at < $1
    and id not in (select calibration_id from judge_version where calibration_id is not null)
    and id not in (select max(id) from judge_calibration
      where judge_id = 'file' and kind = 'calibration' and status = 'completed' group by organization_id)`
  await database.write([
    {
      sql: `delete from judge_answer where calibration_id in (select id from judge_calibration where ${old})`,
      params: [beforeMs],
    },
    { sql: `delete from judge_calibration where ${old}`, params: [beforeMs] },
  ])
}

type CalibrationRow = {
  id: string
  organization_id: string
  judge_id: string
  version: number
  subject: string
  kind: string
  night: number | null
  status: string
  items: string
  left_out: number
  left_out_by: string | null
  total: number
  done: number
  report: string | null
  error: string | null
  created_by: string | null
  created_at: number
  updated_at: number
}

type AnswerRow = {
  item: number
  round: number
  score_bp: number | null
  failure: string | null
  ms: number
  usd_micros: number
}

// The casts hold because only this store writes the JSON columns.
const calibrationOf = (row: CalibrationRow): JudgeCalibration => ({
  id: row.id,
  organizationId: row.organization_id,
  judgeId: row.judge_id,
  version: row.version,
  subject: row.subject,
  kind: calibrationKinds.find((kind) => kind === row.kind) ?? 'calibration',
  night: row.night,
  status: calibrationStatuses.find((status) => status === row.status) ?? 'failed',
  items: JSON.parse(row.items) as CalibrationItem[],
  leftOut: leftOutOf(row),
  total: row.total,
  done: row.done,
  report: row.report === null ? null : (JSON.parse(row.report) as CalibrationReport),
  error: row.error,
  createdBy: row.created_by,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

/** Before reasons were stored, only labels that no person gave were left out. */
const leftOutOf = ({ left_out: count, left_out_by: reasons }: CalibrationRow): LeftOut =>
  reasons === null
    ? { ...nothingLeftOut, not_by_person: count }
    : { ...nothingLeftOut, ...(JSON.parse(reasons) as Partial<LeftOut>) }

const answerOf = (row: AnswerRow): CalibrationAnswer => ({
  item: row.item,
  round: row.round,
  score: row.score_bp,
  failure: row.failure,
  ms: row.ms,
  usdMicros: row.usd_micros,
})

const valuesOf = (calibration: JudgeCalibration): Value[] => [
  calibration.id,
  calibration.organizationId,
  calibration.judgeId,
  calibration.version,
  calibration.subject,
  calibration.kind,
  calibration.night,
  calibration.status,
  JSON.stringify(calibration.items),
  countLeftOut(calibration.leftOut),
  JSON.stringify(calibration.leftOut),
  calibration.total,
  calibration.done,
  calibration.report === null ? null : JSON.stringify(calibration.report),
  calibration.error,
  calibration.createdBy,
  calibration.createdAtMs,
  calibration.updatedAtMs,
]
