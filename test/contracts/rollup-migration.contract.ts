import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ledgerReports } from '../../src/adapters/stores/sql/credits/reports.ts'
import type { Database, Value } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { decisionHours, decisionSums } from '../../src/adapters/stores/sql/policies/decision-counts.ts'
import { trafficStore } from '../../src/adapters/stores/sql/rollup/traffic.ts'
import type { TrafficGroup } from '../../src/domain/traffic/traffic.ts'
import { setClock } from '../support/audit-log.ts'
import type { ContractOptions } from './database.contract.ts'

const minute = 60
const hour = 3_600
const day = 24 * hour
const week = 7 * day
/** When the database is migrated. */
const now = Date.UTC(2026, 0, 10, 12) / 1000
/** So old that the sums by the minute were removed. */
const longAgo = now - 5 * day

/** The contract of the migration that replaces four tables of sums, and scans of the ledger, by one table. */
export function rollupMigrationContract(
  name: string,
  open: () => Promise<Database>,
  options: ContractOptions = {},
): void {
  describe(`the migration to the rollup: ${name}`, { skip: options.skip ?? false }, () => {
    it('keeps the sums of requests, with those that were not summed up yet', async () => {
      await using database = await open()
      const scene = await openScene(database)
      for (const [step, startTime, status, requests] of [
        [hour, longAgo, 'ok', 100],
        [hour, longAgo, 'denied', 5],
        [minute, now, 'ok', 7],
        [minute, now + minute, 'error', 2],
      ] as const)
        await scene.insertTraffic({ step, startTime, status, requests })
      await scene.insertEvent(1, { time: now * 1000 }) // in the sums already
      await scene.insertEvent(2, { time: now * 1000 + 5, status: 'ok', latency_ms: 30, input_tokens: 3 })
      await scene.insertEvent(3, { time: (now + hour) * 1000, status: 'denied' })
      await scene.insertEvent(4, { time: (now + hour) * 1000, code: 'policy.updated' })
      await scene.moveCursor(1)
      await scene.migrate()
      const expected = [
        [longAgo, 105, 5, 0],
        [now, 10, 0, 2],
        [now + hour, 1, 1, 0],
      ]
      for (const group of [undefined, 'key'] as const)
        assert.deepEqual(
          (await scene.traffic(hour, group)).map((sum) => [sum.startTime, sum.requests, sum.denied, sum.errors]),
          expected,
        )
      const days = (await scene.traffic(day)).map(({ requests, inputTokens, latency }) => [
        requests,
        inputTokens,
        latency[1],
      ])
      assert.deepEqual(days, [
        [105, 105, 105],
        [11, 9 + 3, 9 + 1],
      ])
      const minutes = (await scene.traffic(minute, 'status')).map((sum) => [sum.startTime, sum.group, sum.requests])
      assert.deepEqual(minutes.slice(2), [
        [now, 'ok', 8],
        [now + minute, 'error', 2],
        [now + hour, 'denied', 1],
      ])
    })

    it('keeps the usage, by end user as far as the audit log names one', async () => {
      await using database = await open()
      const scene = await openScene(database)
      await scene.insertCharge('req_1', { at: now * 1000, micro: 5 })
      await scene.insertCharge('req_2', { at: now * 1000 + 1, micro: 7 })
      await scene.insertCharge('req_3', { at: longAgo * 1000, micro: 11 })
      await scene.insertCharge('req_4', { at: now * 1000, micro: 0, outcome: 'orphaned' })
      await scene.insertEvent(1, { time: 1, request_id: 'req_1', user_id: 'ada' })
      await scene.insertEvent(2, { time: 1, request_id: 'req_1', user_id: 'ada' })
      await scene.insertEvent(3, { time: 1, request_id: 'req_2' })
      await scene.migrate()
      assert.deepEqual(await scene.usage(['user']), [
        [longAgo, null, 1, 11],
        [now, null, 1, 7],
        [now, 'ada', 1, 5],
      ])
      assert.deepEqual(await scene.usage([]), [
        [longAgo, null, 1, 11],
        [now, null, 2, 12],
      ])
      const minutes = await database.read(`select start_time, requests from rollup where kind = 'usage' and step = 60`)
      assert.deepEqual(minutes, [{ start_time: now, requests: 2 }])
      const weeks = await database.read(
        `select start_time, user_id, requests, micro from rollup where kind = 'user' and step = ${week} order by start_time, user_id`,
      )
      const thisWeek = { start_time: Date.UTC(2026, 0, 8) / 1000, requests: 1 }
      assert.deepEqual(weeks, [
        { start_time: Date.UTC(2026, 0, 1) / 1000, user_id: '', requests: 1, micro: 11 },
        { ...thisWeek, user_id: '', micro: 7 },
        { ...thisWeek, user_id: 'ada', micro: 5 },
      ])
    })

    it('takes costs from the usage by end user, and from all usage of before', async () => {
      await using database = await open()
      const scene = await openScene(database)
      await scene.insertCharge('req_1', { at: now * 1000, micro: 5 })
      await scene.insertCharge('req_2', { at: longAgo * 1000, micro: 11 })
      await scene.insertEvent(1, { time: 1, request_id: 'req_1', user_id: 'ada' })
      await scene.insertEvent(2, { time: 1, request_id: 'req_2', user_id: 'bob' })
      await scene.migrate(59)
      await database.write([
        { sql: `delete from rollup where kind = 'user' and start_time < $1`, params: [now - 2 * day] },
      ])
      await scene.migrate()
      const rows = await database.read(
        `select step, start_time, user_id, tags, requests, micro from rollup where kind = 'cost' order by step, start_time`,
      )
      const old = { user_id: '', tags: '', requests: 1, micro: 11 }
      const named = { user_id: 'ada', tags: '', requests: 1, micro: 5 }
      const dayOf = (seconds: number): number => Math.floor(seconds / day) * day
      assert.deepEqual(rows, [
        { step: hour, start_time: longAgo, ...old },
        { step: hour, start_time: now, ...named },
        { step: day, start_time: dayOf(longAgo), ...old },
        { step: day, start_time: dayOf(now), ...named },
      ])
      assert.deepEqual(await scene.usage([]), [
        [longAgo, null, 1, 11],
        [now, null, 1, 5],
      ])
    })

    it('keeps the decisions by minute and hour', async () => {
      await using database = await open()
      const scene = await openScene(database)
      await scene.insert('decision_count', { ...policy, minute: now / minute, requests: 4, denials: 3 })
      await scene.insert('decision_count', {
        ...policy,
        minute: now / minute - 60,
        version: 1,
        requests: 9,
        denials: 1,
      })
      const recorded = { recorded_requests: 2, recorded_denials: 1 }
      await scene.insert('decision_hour', { ...policy, hour: now / hour, requests: 4, denials: 3, ...recorded })
      await scene.insert('decision_hour', {
        ...policy,
        hour: now / hour - 1,
        version: 1,
        requests: 9,
        denials: 1,
        ...recorded,
      })
      await scene.migrate()
      const { window, dayBefore } = await scene.decisionSums()
      assert.deepEqual(
        [window, dayBefore],
        [
          { requests: 4, denials: 3 },
          { requests: 9, denials: 1 },
        ],
      )
      const hours = await scene.decisionHours()
      assert.deepEqual(
        hours.map((each) => [each.hour - now / hour, each.version, each.requests, each.recordedRequests]),
        [
          [-1, 1, 9, 2],
          [0, 2, 4, 2],
        ],
      )
    })
  })
}

const policy = { organization_id: 'org_1', subject: 'pol_1', version: 2 }

async function openScene(database: Database) {
  const migrations = await readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)))
  const clock = setClock((now + 2 * hour) * 1000)
  const query: Database['read'] = (sql, params) => database.read(sql, params)
  await migrate(database, migrations.slice(0, 35))
  const insert = async (table: string, values: Record<string, Value>): Promise<void> => {
    const names = Object.keys(values)
    const sql = `insert into ${table} (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`
    await database.write([{ sql, params: Object.values(values) }])
  }
  await insert('organization', { id: 'org_1', name: 'org_1', changed_at: 1, created_at: 1 })
  const head = { chain_uid: 'c', sequence: 4, fingerprint: '', event_id: '', type_uid: 0 }
  const signed = { first_sequence: 1, signed_sequence: 0, signed_at: 0 }
  await insert('audit_chain', { organization_id: 'org_1', ...head, ...signed })
  return {
    insert,
    migrate: (count?: number) => migrate(database, migrations.slice(0, count)),
    async insertTraffic(row: { step: number; startTime: number; status: string; requests: number }) {
      const { step, startTime, status, requests } = row
      const latency = Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`latency_${at}`, at === 1 ? requests : 0]),
      )
      const tokens = { input_tokens: requests, output_tokens: 1, cost_micro_usd: 1 }
      const time = { organization_id: 'org_1', step, start_time: startTime, status, requests, ...tokens, ...latency }
      await insert('traffic', { ...time, project_id: 'proj_1', model: 'm', upstream: 'p', decision: 'allow' })
      await insert('traffic_by_key', { ...time, actor_id: 'key_1' })
    },
    insertEvent: (sequence: number, values: Record<string, Value>) =>
      insert('audit_event', {
        organization_id: 'org_1',
        sequence,
        id: `evt_${sequence}`,
        chain_uid: 'c',
        code: 'gateway.request.decided',
        actor_id: 'key_1',
        fingerprint: '',
        body: '',
        ...values,
      }),
    moveCursor: (sequence: number) => insert('traffic_cursor', { organization_id: 'org_1', sequence }),
    insertCharge: (requestId: string, values: Record<string, Value>) =>
      insert('charge', {
        request_id: requestId,
        id: requestId,
        organization_id: 'org_1',
        project_id: 'proj_1',
        key_id: 'key_1',
        model: 'm',
        outcome: 'answered',
        input_tokens: 1,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 1,
        source: 'reported',
        input_rate: 0,
        cache_read_rate: 0,
        cache_write_rate: 0,
        output_rate: 0,
        rate_version: '',
        ...values,
      }),
    traffic: (step: number, groupBy?: TrafficGroup) =>
      trafficStore(database, clock).sums({ organizationId: 'org_1', from: longAgo, to: now + day, step, groupBy }),
    async usage(groupBy: readonly 'user'[]) {
      const span = { fromMs: longAgo * 1000, toMs: (now + day) * 1000, bucketMs: hour * 1000 }
      const rows = await ledgerReports(database, { clock, userDays: 90 }).usage({
        organizationId: 'org_1',
        ...span,
        groupBy,
      })
      return rows.map((row) => [row.startMs / 1000, row.userId, row.requests, row.micro])
    },
    decisionSums: () =>
      decisionSums({ query }).sums({ organizationId: 'org_1', subject: 'pol_1', version: 2 }, now / minute),
    decisionHours: () => decisionHours({ query }, clock).hours('org_1', ['pol_1'], 0),
  }
}
