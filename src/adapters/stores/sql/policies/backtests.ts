import type { Clock } from '../../../../base/clock.ts'
import { backtestStatuses } from '../../../../domain/evaluation/backtest/backtest.ts'
import type {
  AnyBacktest,
  Backtest,
  BacktestQueue,
  BacktestStore,
  GatewayBacktest,
} from '../../../../domain/evaluation/backtest/backtest.ts'
import { noCoverage, noScores } from '../../../../domain/evaluation/backtest/counts.ts'
import type { Encryption } from '../../../../base/encryption.ts'
import { withBodies } from '../audit/blocks.ts'
import { readSamples } from '../audit/replay-sample.ts'
import { eventColumns, eventTables, loggedOf, type EventRow } from '../audit/rows.ts'
import type { Database, Transaction } from '../database.ts'
import { selectPage } from '../page.ts'

type BacktestRow = {
  id: string
  organization_id: string
  /** Null: the gateway configuration. */
  policy_id: string | null
  status: string
  request: string
  cursor: number
  first_sequence: number
  done: number
  total: number
  tally: string
  error: string | null
  cancelled_at: number | null
  created_at: number
  updated_at: number
}

const columns =
  'id, organization_id, policy_id, status, request, cursor, first_sequence, done, total, tally, error, cancelled_at, created_at, updated_at'

const ofRequests = `e.code = 'gateway.request.decided'`

/** Otherwise a sample of a busy organization would be few among the newest events. */
const hasTexts = `(exists (select 1 from audit_content t where t.organization_id = e.organization_id and t.sequence = e.sequence)
  or exists (select 1 from replay_sample t where t.organization_id = e.organization_id and t.sequence = e.sequence))`

/** Backtests of policies in SQL, in the given transaction. */
export const backtestStore = (tx: Transaction): BacktestStore =>
  storeOf(tx, (row) => policyBacktestOf({ ...row, policy_id: row.policy_id ?? '' }))

/** Backtests of gateway configurations. */
export const gatewayBacktestStore = (tx: Transaction): BacktestStore<GatewayBacktest> => storeOf(tx, gatewayBacktestOf)

function storeOf<B extends AnyBacktest>(tx: Transaction, map: (row: BacktestRow) => B): BacktestStore<B> {
  return {
    async insert(backtest) {
      await tx.run(
        `insert into backtest (${columns}, lease_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, null, $12, $13, 0)`,
        valuesOf(backtest),
      )
    },
    async find(organizationId, policyId, id) {
      const ofOwner = policyId === null ? 'policy_id is null' : 'policy_id = $3'
      const [row] = await tx.query<BacktestRow>(
        `select ${columns} from backtest where organization_id = $1 and id = $2 and ${ofOwner}`,
        [organizationId, id, ...(policyId === null ? [] : [policyId])],
      )
      return row && map(row)
    },
    list: (organizationId, policyId, page) =>
      selectPage(
        tx,
        {
          table: 'backtest',
          columns,
          where: { organization_id: organizationId, policy_id: policyId },
          map,
        },
        page,
      ),
    // Nodes of the version before know no cancelled backtest. They read it as a failed one.
    cancel: async ({ organizationId, id, error }, atMs) =>
      (await tx.run(
        `update backtest set status = 'failed', cancelled_at = $3, updated_at = $3, error = $4
         where organization_id = $1 and id = $2 and status = 'running'`,
        [organizationId, id, atMs, error],
      )) === 1,
    async countRunning(organizationId) {
      const [row] = await tx.query<{ count: number }>(
        `select count(*) as count from backtest where organization_id = $1 and status = 'running'`,
        [organizationId],
      )
      return row?.count ?? 0
    },
  }
}

export type BacktestQueueParts = {
  readonly database: Database
  readonly clock: Clock
  /** Identifies this process among all workers. */
  readonly owner: string
  readonly leaseMs: number
  /** Decrypts the replay sample; left out if none is kept. With it, only events with texts are replayed. */
  readonly sampleEncryption?: Pick<Encryption, 'decrypt'> | undefined
}

/** Compare-and-set: succeeds only for the lease holder, and only from the stored position. */
const saveProgress = `update backtest set status = $4, cursor = $5, done = $6, total = $7, tally = $8, error = $9,
    updated_at = $10, lease_until = $11
  where id = $1 and owner = $2 and cursor = $3 and status = 'running'`

const isFree = `status = 'running' and lease_until <= $1`

/** The queue of running backtests, shared by all nodes. */
export function backtestQueue({
  database,
  clock,
  owner,
  leaseMs,
  sampleEncryption,
}: BacktestQueueParts): BacktestQueue {
  const query: Transaction['query'] = (sql, params) => database.report(sql, params)
  const replayed = sampleEncryption === undefined ? ofRequests : `${ofRequests} and ${hasTexts}`
  return {
    async claim() {
      const nowMs = clock.nowMs()
      const sql = `select id from backtest where ${isFree} order by id limit 1`
      const [free] = await database.read<{ id: string }>(sql, [nowMs])
      if (!free) return undefined
      const [claimed] = await database.write([
        {
          sql: `update backtest set owner = $3, lease_until = $4 where ${isFree} and id = $2 returning ${columns}`,
          params: [nowMs, free.id, owner, nowMs + leaseMs],
        },
      ])
      const [row] = (claimed?.rows ?? []) as BacktestRow[]
      return row && backtestOf(row)
    },
    async span({ organizationId, parameters: { fromMs, toMs } }) {
      const [row] = await database.report<{ first: number | null; last: number | null; count: number }>(
        `select min(sequence) as first, max(sequence) as last, count(*) as count from audit_event e
         where organization_id = $1 and time >= $2 and time < $3 and ${replayed}`,
        [organizationId, fromMs, toMs],
      )
      return { first: row?.first ?? 0, last: row?.last ?? 0, count: row?.count ?? 0 }
    },
    async events({ organizationId, parameters, cursor, firstSequence }, limit) {
      const rows = await database.report<EventRow>(
        `select ${eventColumns} from ${eventTables}
         where e.organization_id = $1 and e.sequence < $2 and e.sequence >= $3 and e.time >= $4 and e.time < $5
           and ${replayed} order by e.sequence desc limit $6`,
        [organizationId, cursor, firstSequence, parameters.fromMs, parameters.toMs, limit],
      )
      const events = (await withBodies({ query }, organizationId, rows)).map(loggedOf)
      if (sampleEncryption === undefined) return events
      const sequences = events.filter(({ content }) => !content).map(({ sequence }) => sequence)
      const samples = await readSamples({ query }, sampleEncryption, { organizationId, sequences })
      return events.map((event) => ({ ...event, sample: samples.get(event.sequence) }))
    },
    async save(backtest, cursorBefore) {
      const { id, status, cursor, done, total, counts, error, updatedAtMs } = backtest
      const guard = [id, owner, cursorBefore]
      const progress = [status, cursor, done, total, JSON.stringify(counts), error, updatedAtMs]
      const [saved] = await database.write([
        { sql: saveProgress, params: [...guard, ...progress, clock.nowMs() + leaseMs] },
      ])
      return saved?.changed === 1
    },
    async release(id) {
      const sql = 'update backtest set owner = null, lease_until = 0 where id = $1 and owner = $2'
      await database.write([{ sql, params: [id, owner] }])
    },
  }
}

/** For the embedded database: it has one process, so at startup all leases belong to a process that has ended. */
export async function releaseBacktestLeases(database: Database): Promise<void> {
  await database.write([{ sql: `update backtest set owner = null, lease_until = 0 where status = 'running'` }])
}

/** Deletes backtests that ended before this time. */
export async function removeBacktests(database: Database, beforeMs: number): Promise<void> {
  await database.write([
    { sql: `delete from backtest where status <> 'running' and updated_at < $1`, params: [beforeMs] },
  ])
}

const valuesOf = (backtest: AnyBacktest) => [
  backtest.id,
  backtest.organizationId,
  backtest.policyId,
  backtest.status,
  JSON.stringify(backtest.parameters),
  backtest.cursor,
  backtest.firstSequence,
  backtest.done,
  backtest.total,
  JSON.stringify(backtest.counts),
  backtest.error,
  backtest.createdAtMs,
  backtest.updatedAtMs,
]

const backtestOf = (row: BacktestRow): AnyBacktest =>
  row.policy_id === null ? gatewayBacktestOf(row) : policyBacktestOf({ ...row, policy_id: row.policy_id })

type StoredCounts = Omit<Backtest['counts'], 'scores' | 'example_requests'>

// The casts hold because only this store writes the two JSON columns.
const policyBacktestOf = (row: BacktestRow & { policy_id: string }): Backtest => ({
  ...progressOf(row),
  policyId: row.policy_id,
  parameters: JSON.parse(row.request) as Backtest['parameters'],
  // Backtests from before have no scores and no requests of examples.
  counts: { scores: noScores, example_requests: [], ...withCoverage(JSON.parse(row.tally) as StoredCounts) },
})

const gatewayBacktestOf = (row: BacktestRow): GatewayBacktest => ({
  ...progressOf(row),
  policyId: null,
  parameters: JSON.parse(row.request) as GatewayBacktest['parameters'],
  counts: withCoverage(JSON.parse(row.tally) as GatewayBacktest['counts']),
})

/** Backtests from before the replay sample do not count it. */
const withCoverage = <C extends Pick<StoredCounts, 'coverage'>>(counts: C): C => ({
  ...counts,
  coverage: { ...noCoverage, ...counts.coverage },
})

const progressOf = (row: BacktestRow) => ({
  id: row.id,
  organizationId: row.organization_id,
  status:
    row.cancelled_at === null ? (backtestStatuses.find((status) => status === row.status) ?? 'failed') : 'cancelled',
  cursor: row.cursor,
  firstSequence: row.first_sequence,
  done: row.done,
  total: row.total,
  error: row.error,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})
