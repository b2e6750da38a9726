import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { minuteMs } from '../../src/base/clock.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { answerWith, question, startPaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

/** A gateway whose jobs of every minute run when the test decides. */
async function startScene(storage: object = {}) {
  const { clock, pass } = createManualTimers(minuteMs)
  const paid = await startPaidApp({
    clock,
    storage: { ...storage },
    config: { secret: 'a secret of at least thirty-two characters' },
  })
  paid.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
  const read = async (): Promise<(series: string) => number | undefined> => {
    const response = await paid.app.get('/metrics')
    assert.equal(response.status, 200)
    const lines = (await response.text()).split('\n')
    return (series) => {
      const line = lines.find((candidate) => candidate.startsWith(`${series} `))
      return line === undefined ? undefined : Number(line.slice(series.length + 1))
    }
  }
  return {
    read,
    ask: async () => assert.equal((await paid.app.post('/v1/messages', question)).status, 200),
    /** Runs the job, and returns the metrics after it. */
    async measure(result: 'ok' | 'failed') {
      pass(minuteMs)
      const runs = `gatehouse_job_runs_total{job="measure-storage",result="${result}"}`
      let valueOf = await read()
      for (; !valueOf(runs); valueOf = await read()) await setTimeout(20)
      return valueOf
    },
    [Symbol.asyncDispose]: () => paid[Symbol.asyncDispose](),
  }
}

describe('the metrics of storage', () => {
  it('have the size of the embedded database, the free disk and the lags once a minute has passed', async () => {
    await using scene = await startScene()
    await scene.ask()
    assert.equal((await scene.read())('gatehouse_storage_bytes'), undefined)
    const valueOf = await scene.measure('ok')
    assert.ok((valueOf('gatehouse_storage_bytes') ?? 0) > 100_000)
    assert.ok((valueOf('gatehouse_storage_disk_free_bytes') ?? 0) > 0)
    assert.equal(valueOf('gatehouse_audit_retention_lag_seconds'), 0)
    assert.ok(valueOf('gatehouse_rollup_lag_seconds') !== undefined)
  })

  it('can be scraped while PostgreSQL is down, with the values from before', { skip: withoutPostgres }, async () => {
    await using scratch = await createScratchDatabase()
    const url = new URL(scratch.url)
    await using proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.host = `127.0.0.1:${proxy.port}`
    await using scene = await startScene({ database_url: url.href })
    await scene.ask()
    const before = await scene.measure('ok')
    assert.ok((before('gatehouse_storage_bytes') ?? 0) > 1_000_000)
    assert.ok((before('gatehouse_audit_lock_wait_seconds_count') ?? 0) >= 1)
    proxy.shut()
    const during = await scene.measure('failed')
    assert.equal(during('gatehouse_storage_bytes'), before('gatehouse_storage_bytes'))
    proxy.open()
  })

  it('have the time of calls to Redis by operation', { skip: withoutRedis }, async () => {
    await using scene = await startScene({ redis_url: redisUrl })
    await scene.ask()
    const valueOf = await scene.read()
    assert.ok((valueOf('gatehouse_limit_store_seconds_count{operation="admit"}') ?? 0) >= 1)
    assert.ok((valueOf('gatehouse_limit_store_seconds_sum{operation="admit"}') ?? 0) > 0)
  })
})
