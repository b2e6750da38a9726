import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import type { CostsBody } from '../../src/http/admin/costs/schema.ts'
import { openCommandLine } from '../support/command-line.ts'

const daySeconds = 86_400

describe('gatehouse costs', () => {
  it('shows the most expensive groups first, as a table, as JSON and as CSV', async () => {
    await using scene = await openCommandLine()
    const { organization_id: organizationId } = (await scene.json('setup')) as { organization_id: string }
    const today = Math.floor(Date.now() / 1_000 / daySeconds) * daySeconds
    {
      await using database = await openSqlite({ dataDir: scene.dataDir, hasRedoLog: true })
      const sql = `insert into rollup (organization_id, kind, step, start_time, project_id, model, tags, requests, input_tokens,
          cache_read_tokens, cache_write_tokens, output_tokens, micro) values ($1, 'cost', $2, $3, 'proj_1', $4, '', 2, 3, 0, 0, 1, $5)`
      const rows = [
        ['cheap', 1_000],
        ['dear', 5_000_000],
      ] as const
      await database.write(
        rows.flatMap(([model, micro]) =>
          [3_600, daySeconds].map((step) => ({
            sql,
            params: [organizationId, step, today - 5 * daySeconds, model, micro],
          })),
        ),
      )
    }
    const { data, total }: CostsBody = await scene.json('costs', '--by', 'model,day')
    assert.deepEqual(
      data.map(({ model, day, cost_usd: usd }) => [model, day, usd]),
      [
        ['dear', today - 5 * daySeconds, 0.005],
        ['cheap', today - 5 * daySeconds, 0.000001],
      ],
    )
    assert.equal(total.cost_usd, 0.005001)
    const { output: out } = await scene.call('costs', '--by', 'model', '--limit', '1')
    assert.match(
      out,
      /^MODEL +REQUESTS +INPUT TOKENS +OUTPUT TOKENS +USD\ndear +2 +3 +1 +0\.005000\n\(other\) +2 .*\n\(total\) +4 .*0\.005001$/,
    )
    const csv = await scene.call('costs', '--by', 'model', '--csv', '--model', 'che*')
    assert.match(csv.output, /^model,requests,.*\r\ncheap,2,3,0,0,1,0\.000001\r\n$/)
    const none = await scene.call('costs', '--user', 'nobody')
    assert.match(none.output, /^No costs from /)
  })
})
