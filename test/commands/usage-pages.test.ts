import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import type { UsageBody } from '../../src/http/admin/usage/schema.ts'
import { openCommandLine } from '../support/command-line.ts'

const daySeconds = 86_400
const users = 6_000

describe('gatehouse usage', () => {
  it('shows all pages of a period as one, and the total of a period', async () => {
    await using scene = await openCommandLine()
    const { organization_id: organizationId } = (await scene.json('setup')) as { organization_id: string }
    const today = Math.floor(Date.now() / 1_000 / daySeconds) * daySeconds
    const days = [3, 2, 1].map((ago) => today - ago * daySeconds)
    await insertSums(scene.dataDir, organizationId, days)
    const period = ['--from', dateOf(days[0] ?? 0), '--to', dateOf(today), '--by', 'user']
    const all: UsageBody = await scene.json('usage', ...period)
    assert.deepEqual(
      all.data.map(({ start_time: start, results }) => [start, results.length, new Set(results.map(userOf)).size]),
      days.map((start) => [start, users, users]),
    )
    assert.deepEqual([all.start_time, all.end_time, all.has_more], [days[0], today, false])
    const total: UsageBody = await scene.json('usage', ...period, '--bucket', 'total')
    assert.deepEqual(
      total.data.map(({ results }) => [results.length, ...new Set(results.map(({ requests }) => requests))]),
      [[users, days.length]],
    )
  })
})

const userOf = ({ user_id: user }: UsageBody['data'][number]['results'][number]) => user

const dateOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10)

/** One request of each user on each day. */
async function insertSums(dataDir: string, organizationId: string, days: readonly number[]): Promise<void> {
  await using database = await openSqlite({ dataDir, hasRedoLog: true })
  await database.write(
    days.map((start) => ({
      sql: `insert into rollup (organization_id, kind, step, start_time, user_id, requests, input_tokens, cache_read_tokens,
          cache_write_tokens, output_tokens, micro)
        with recursive numbered (n) as (select 1 union all select n + 1 from numbered where n < ${users})
        select $1, 'user', ${daySeconds}, $2, 'user-' || n, 1, 1, 0, 0, 1, 1 from numbered`,
      params: [organizationId, start],
    })),
  )
}
