import {
  fileJudgeId,
  judgeFailures,
  judgeStates,
  type FixedLabels,
  type JudgeHead,
  type JudgeParameters,
  type JudgeStore,
  type JudgeTemplate,
  type JudgeVersion,
  type StoredJudge,
  type VersionAt,
  type VersionChange,
} from '../../../../domain/judges/judge.ts'
import type { Database, Transaction, Value } from '../database.ts'
import { selectPage } from '../page.ts'

const headColumns = 'id, organization_id, name, revision, created_at, updated_at'
const versionColumns =
  'organization_id, judge_id, version, model, template, digest, parameters, timeout_ms, fail, max_usd_micros, state, share_bp, calibration_id, fixed, activated_at, created_by, created_at'

/** Judges in SQL, in the given transaction. */
export function judgeStore(tx: Transaction): JudgeStore {
  const versionsOf = async (organizationId: string, id: string): Promise<JudgeVersion[]> =>
    (
      await tx.query<VersionRow>(
        `select ${versionColumns} from judge_version where organization_id = $1 and judge_id = $2 order by version desc`,
        [organizationId, id],
      )
    ).map(versionOf)
  const withVersions = async (head: JudgeHead): Promise<StoredJudge> => {
    const versions = await versionsOf(head.organizationId, head.id)
    const [latest] = versions
    if (latest === undefined) throw new Error(`the judge ${head.id} has no version`)
    const numberOf = (state: string): number | null => versions.find((each) => each.state === state)?.version ?? null
    return { ...head, latest, activeVersion: numberOf('active'), shadowVersion: numberOf('shadow') }
  }
  const insertVersion = async (version: JudgeVersion): Promise<void> => {
    await tx.run(
      `insert into judge_version (${versionColumns})
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
      valuesOf(version),
    )
  }

  return {
    async insert(judge, version) {
      await tx.run(`insert into judge (${headColumns}) values ($1, $2, $3, $4, $5, $6)`, [
        judge.id,
        judge.organizationId,
        judge.name,
        judge.revision,
        judge.createdAtMs,
        judge.updatedAtMs,
      ])
      await insertVersion(version)
    },
    insertVersion,
    async find(organizationId, id) {
      const [row] = await tx.query<HeadRow>(`select ${headColumns} from judge where organization_id = $1 and id = $2`, [
        organizationId,
        id,
      ])
      return row && withVersions(headOf(row))
    },
    async list(organizationId, page) {
      const where = { organization_id: organizationId }
      const found = await selectPage(tx, { table: 'judge', columns: headColumns, where, map: headOf }, page)
      return { ...found, items: await Promise.all(found.items.map(withVersions)) }
    },
    names: (organizationId) =>
      tx.query<{ id: string; name: string }>('select id, name from judge where organization_id = $1 order by id', [
        organizationId,
      ]),
    versions: versionsOf,
    async findVersion({ organizationId, judgeId, version }) {
      const [row] = await tx.query<VersionRow>(
        `select ${versionColumns} from judge_version where organization_id = $1 and judge_id = $2 and version = $3`,
        [organizationId, judgeId, version],
      )
      return row && versionOf(row)
    },
    async inForce(organizationId) {
      const rows = await tx.query<VersionRow>(
        `select ${versionColumns} from judge_version where organization_id = $1 and state in ('active', 'shadow')`,
        [organizationId],
      )
      const versions = rows.map(versionOf)
      return {
        active: versions.find(({ state }) => state === 'active'),
        shadow: versions.find(({ state }) => state === 'shadow'),
      }
    },
    touch: async ({ organizationId, id, name, revision, updatedAtMs }, before) =>
      (await tx.run(
        `update judge set name = $3, revision = $4, updated_at = $5
         where organization_id = $1 and id = $2 and revision = $6`,
        [organizationId, id, name, revision, updatedAtMs, before],
      )) === 1,
    async changeVersion({ organizationId, judgeId, version }, change) {
      const columns = columnsOf(change)
      if (columns.length === 0) return
      const sets = columns.map(([name], at) => `${name} = $${at + 4}`).join(', ')
      await tx.run(`update judge_version set ${sets} where organization_id = $1 and judge_id = $2 and version = $3`, [
        organizationId,
        judgeId,
        version,
        ...columns.map(([, value]) => value),
      ])
    },
    remove: (organizationId, id) => removeJudge(tx, [organizationId, id]),
  }
}

/** With all that is known of it. */
async function removeJudge(tx: Transaction, of: readonly [organizationId: string, id: string]): Promise<void> {
  await tx.run(
    `delete from judge_answer where calibration_id in
       (select id from judge_calibration where organization_id = $1 and judge_id = $2)`,
    of,
  )
  for (const table of [
    'judge_calibration',
    'judge_day',
    'judge_seen',
    'judge_difference',
    'judge_alarm',
    'judge_version',
  ])
    await tx.run(`delete from ${table} where organization_id = $1 and judge_id = $2`, of)
  await tx.run('delete from judge where organization_id = $1 and id = $2', of)
}

/** The active versions of all organizations. */
export async function activeJudgeVersions(database: Database): Promise<readonly JudgeVersion[]> {
  const sql = `select ${versionColumns} from judge_version where state = 'active' order by judge_id, version`
  return (await database.read<VersionRow>(sql)).map(versionOf)
}

/** Organizations without an active judge that asked the judge of the configuration since this day, or have calibrated it. */
export async function organizationsOfFileJudge(
  database: Pick<Database, 'read'>,
  fromDay: number,
): Promise<readonly string[]> {
  const sql = `select organization_id as id from judge_day where judge_id = $1 and day >= $2
    union select organization_id from judge_calibration
      where judge_id = $1 and kind = 'calibration' and status = 'completed'
    except select organization_id from judge_version where state = 'active' order by id`
  return (await database.read<{ id: string }>(sql, [fileJudgeId, fromDay])).map(({ id }) => id)
}

function columnsOf(change: VersionChange): [string, Value][] {
  const { state, shareBasisPoints, calibrationId, fixed, activatedAtMs } = change
  const columns: [string, Value | undefined][] = [
    ['state', state],
    ['share_bp', shareBasisPoints],
    ['calibration_id', calibrationId],
    ['fixed', fixed && JSON.stringify(fixed)],
    ['activated_at', activatedAtMs],
  ]
  return columns.filter((column): column is [string, Value] => column[1] !== undefined)
}

type HeadRow = {
  id: string
  organization_id: string
  name: string
  revision: number
  created_at: number
  updated_at: number
}

type VersionRow = {
  organization_id: string
  judge_id: string
  version: number
  model: string
  template: string | null
  digest: string
  parameters: string
  timeout_ms: number
  fail: string
  max_usd_micros: number
  state: string
  share_bp: number
  calibration_id: string | null
  fixed: string
  activated_at: number | null
  created_by: string
  created_at: number
}

const headOf = (row: HeadRow): JudgeHead => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  revision: row.revision,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

// The casts hold because only this store writes the JSON columns.
const versionOf = (row: VersionRow): JudgeVersion => ({
  organizationId: row.organization_id,
  judgeId: row.judge_id,
  version: row.version,
  model: row.model,
  template: row.template === null ? null : (JSON.parse(row.template) as JudgeTemplate),
  digest: row.digest,
  parameters: JSON.parse(row.parameters) as JudgeParameters,
  timeoutMs: row.timeout_ms,
  fail: judgeFailures.find((fail) => fail === row.fail) ?? 'closed',
  maxUsdPerDay: row.max_usd_micros / 1_000_000,
  state: judgeStates.find((state) => state === row.state) ?? 'draft',
  shareBasisPoints: row.share_bp,
  calibrationId: row.calibration_id,
  fixed: JSON.parse(row.fixed) as FixedLabels,
  activatedAtMs: row.activated_at,
  createdBy: row.created_by,
  createdAtMs: row.created_at,
})

const valuesOf = (version: JudgeVersion): Value[] => [
  version.organizationId,
  version.judgeId,
  version.version,
  version.model,
  version.template === null ? null : JSON.stringify(version.template),
  version.digest,
  JSON.stringify(version.parameters),
  version.timeoutMs,
  version.fail,
  Math.round(version.maxUsdPerDay * 1_000_000),
  version.state,
  version.shareBasisPoints,
  version.calibrationId,
  JSON.stringify(version.fixed),
  version.activatedAtMs,
  version.createdBy,
  version.createdAtMs,
]

/** The parameters of a statement that names a version. */
export const versionParams = ({ organizationId, judgeId, version }: VersionAt): Value[] => [
  organizationId,
  judgeId,
  version,
]
