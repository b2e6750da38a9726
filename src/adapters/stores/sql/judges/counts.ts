import {
  notReviewedReasons,
  scoreBins,
  type DifferenceReview,
  type JudgeCountStore,
  type JudgeCountWriter,
  type JudgeDay,
  type JudgeDifference,
  type ReviewedDifference,
  type SeenModel,
} from '../../../../domain/judges/counts.ts'
import type { DifferenceReviewStore, ReviewDifferencesParts } from '../../../../domain/judges/review-differences.ts'
import type { Database, Statement, Transaction } from '../database.ts'
import { selectPage } from '../page.ts'
import { versionParams } from './judges.ts'

const scoreColumns = Array.from({ length: scoreBins }, (_, at) => `score_${at}`)
const counted = ['asked', 'remembered', 'skipped', 'failed', 'usd_micros', 'compared', 'differed', ...scoreColumns]
const identity = ['organization_id', 'judge_id', 'version', 'policy_id', 'day']
const columns = [...identity, ...counted].join(', ')

const addDay = `insert into judge_day (${columns})
  values (${[...identity, ...counted].map((_, at) => `$${at + 1}`).join(', ')})
  on conflict (${identity.join(', ')}) do update set
  ${counted.map((name) => `${name} = judge_day.${name} + excluded.${name}`).join(', ')}`

const differenceColumns =
  'id, organization_id, judge_id, version, policy_id, request_id, direction, active_bp, shadow_bp, created_at'

/** Adds what nodes have counted. A loss of power may lose a second of it. */
export const judgeCountWriter = (database: Database): JudgeCountWriter => ({
  async add(days, differences) {
    await database.write([...days.map(dayStatement), ...differences.map(differenceStatement)], { waitsForDisk: false })
  },
})

/** What was counted, in SQL. */
export const judgeCountStore = (tx: Pick<Transaction, 'query'>): JudgeCountStore => ({
  days: async (of, fromDay) =>
    (
      await tx.query<DayRow>(
        `select ${columns} from judge_day
         where organization_id = $1 and judge_id = $2 and version = $3 and day >= $4 order by day, policy_id`,
        [...versionParams(of), fromDay],
      )
    ).map(dayOf),
  daysOfJudge: async ({ organizationId, judgeId }, fromDay) =>
    (
      await tx.query<DayRow>(
        `select ${columns} from judge_day
         where organization_id = $1 and judge_id = $2 and day >= $3 order by day, policy_id, version`,
        [organizationId, judgeId, fromDay],
      )
    ).map(dayOf),
  async differences({ organizationId, judgeId, version }, page) {
    const where = { organization_id: organizationId, judge_id: judgeId }
    const only = [['version = ?', version]] as const
    return selectPage(
      tx,
      { table: 'judge_difference', columns: `${differenceColumns}, review`, where, only, map: reviewedOf },
      page,
    )
  },
  async eventsOf(organizationId, requestIds) {
    if (requestIds.length === 0) return new Map()
    const params = requestIds.map((_, at) => `$${at + 2}`).join(', ')
    const rows = await tx.query<{ id: string; request_id: string }>(
      `select id, request_id from audit_event
       where organization_id = $1 and request_id in (${params}) and code = 'gateway.request.decided'`,
      [organizationId, ...requestIds],
    )
    return new Map(rows.map(({ id, request_id: requestId }) => [requestId, id]))
  },
  async seen(of) {
    const rows = await tx.query<SeenRow>(
      `select organization_id, judge_id, version, upstream, model, since from judge_seen
       where organization_id = $1 and judge_id = $2 and version = $3 order by upstream`,
      versionParams(of),
    )
    return rows.map(seenOf)
  },
})

/** Deletes sums of days before this one, and differences from before this time. */
export async function removeJudgeCounts(
  database: Database,
  { day, beforeMs }: { readonly day: number; readonly beforeMs: number },
): Promise<void> {
  await database.write([
    { sql: 'delete from judge_day where day < $1', params: [day] },
    { sql: 'delete from judge_budget where day < $1', params: [day] },
    { sql: 'delete from judge_difference where created_at < $1', params: [beforeMs] },
  ])
}

function dayStatement(one: JudgeDay): Statement {
  const { organizationId, judgeId, version, policyId, day, usd, scores } = one
  const { asked, remembered, skipped, failed, compared, differed } = one
  const usdMicros = Math.round(usd * 1_000_000)
  const counts = [asked, remembered, skipped, failed, usdMicros, compared, differed, ...scores]
  return { sql: addDay, params: [organizationId, judgeId, version, policyId, day, ...counts], name: 'add_judge_day' }
}

function differenceStatement(one: JudgeDifference): Statement {
  const { id, organizationId, judgeId, version, policyId, requestId, direction, activeScore, shadowScore, atMs } = one
  const scores = [activeScore, shadowScore]
  return {
    sql: `insert into judge_difference (${differenceColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    params: [id, organizationId, judgeId, version, policyId, requestId, direction, ...scores, atMs],
  }
}

type DayRow = {
  organization_id: string
  judge_id: string
  version: number
  policy_id: string
  day: number
  asked: number
  remembered: number
  skipped: number
  failed: number
  usd_micros: number
  compared: number
  differed: number
} & Record<string, string | number>

type DifferenceRow = {
  id: string
  organization_id: string
  judge_id: string
  version: number
  policy_id: string
  request_id: string
  direction: string
  review: string | null
  active_bp: number
  shadow_bp: number
  created_at: number
}

type SeenRow = {
  organization_id: string
  judge_id: string
  version: number
  upstream: string
  model: string
  since: number
}

const dayOf = (row: DayRow): JudgeDay => ({
  organizationId: row.organization_id,
  judgeId: row.judge_id,
  version: row.version,
  policyId: row.policy_id,
  day: row.day,
  asked: row.asked,
  remembered: row.remembered,
  skipped: row.skipped,
  failed: row.failed,
  usd: row.usd_micros / 1_000_000,
  compared: row.compared,
  differed: row.differed,
  scores: scoreColumns.map((name) => Number(row[name])),
})

const differenceOf = (row: DifferenceRow): JudgeDifference => ({
  id: row.id,
  organizationId: row.organization_id,
  judgeId: row.judge_id,
  version: row.version,
  policyId: row.policy_id,
  requestId: row.request_id,
  direction: row.direction === 'response' ? 'response' : 'request',
  activeScore: row.active_bp,
  shadowScore: row.shadow_bp,
  atMs: row.created_at,
})

const reviewedOf = (row: DifferenceRow): ReviewedDifference => ({ ...differenceOf(row), review: reviewOf(row) })

/** The column has the id of an appeal, or why there is none. */
function reviewOf({ review }: DifferenceRow): DifferenceReview | undefined {
  if (review === null) return undefined
  const notReviewed = notReviewedReasons.find((reason) => reason === review)
  return notReviewed === undefined ? { appealId: review } : { notReviewed }
}

/** What becomes of differences, in the given transaction. */
export const differenceReviews = (tx: Transaction): DifferenceReviewStore => ({
  settle: async ({ organizationId, id }, review) =>
    (await tx.run('update judge_difference set review = $3 where organization_id = $1 and id = $2 and review is null', [
      organizationId,
      id,
      'appealId' in review ? review.appealId : review.notReviewed,
    ])) === 1,
  async countReviewed(organizationId, sinceMs) {
    const [row] = await tx.query<{ count: number }>(
      `select count(*) as count from judge_difference where organization_id = $1 and created_at > $2 and review like 'apl%'`,
      [organizationId, sinceMs],
    )
    return row?.count ?? 0
  },
})

export const unreviewedDifferences =
  (database: Pick<Database, 'read'>): ReviewDifferencesParts['findUnreviewed'] =>
  async (sinceMs, limit) => {
    const rows = await database.read<DifferenceRow>(
      `select ${differenceColumns}, review from judge_difference
       where review is null and created_at > $1 order by created_at, id limit $2`,
      [sinceMs, limit],
    )
    return rows.map(differenceOf)
  }

const seenOf = (row: SeenRow): SeenModel => ({
  organizationId: row.organization_id,
  judgeId: row.judge_id,
  version: row.version,
  upstream: row.upstream,
  model: row.model,
  sinceMs: row.since,
})
