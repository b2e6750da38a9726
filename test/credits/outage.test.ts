import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Redis } from 'ioredis'
import { createFastClock } from '../support/fast-clock.ts'
import { answerWith, question, startPaidApp, type PaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startRedisServer, withoutRedisServer } from '../support/redis-server.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { operatorOf } from '../support/operator.ts'

const cost = 15
const send = ({ app }: PaidApp): Promise<Response> => app.post('/v1/messages', question)

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

const figure = async ({ app }: PaidApp, name: string): Promise<number> => {
  const text = await (await app.get('/metrics')).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

async function adminLimits({ app }: PaidApp): Promise<unknown> {
  const answer = await app.get('/v1/organization/limits', { authorization: `Bearer ${app.adminKey}` })
  return ((await answer.json()) as { scopes: { organization: { rpm: { limit: number } } } }).scopes.organization.rpm
    .limit
}

describe('without Redis', { skip: withoutRedisServer }, () => {
  const limits = {
    tiers: { free: { rpm: 1000, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } } },
  }

  it('requests are served and charged, readiness and metrics report the outage, and everything recovers when Redis is back', async () => {
    await using redis = await startRedisServer()
    await using scene = await startPaidApp({
      config: { limits },
      storage: { redis_url: redis.url },
      clock: createFastClock(20),
    })
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    assert.equal((await send(scene)).status, 200)
    assert.deepEqual(await (await scene.app.get('/health/ready')).json(), { status: 'ready' })

    redis.signal('SIGKILL')
    // All at once: three failures count only within a second, which here is a twentieth of one.
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(scene)))
    for (const { status } of answers) assert.equal(status, 200)
    assert.equal(await figure(scene, 'gatehouse_limits_degraded'), 1)
    const readiness = await (await scene.app.get('/health/ready')).json()
    assert.match(JSON.stringify(readiness), /"status":"ready","degraded":\[\{"part":"limits"/)
    assert.equal(await scene.remaining(), 10_000 - 11 * cost)

    await redis.restart()
    await eventually(async () => (await figure(scene, 'gatehouse_limits_degraded')) === 0)
    assert.equal((await send(scene)).status, 200)
    assert.equal(await adminLimits(scene), 2000)
    assert.equal(await scene.remaining(), 10_000 - 12 * cost)
    assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
    assert.equal(await figure(scene, 'gatehouse_ledger_frozen_organizations'), 0)
  })

  it('counters that lost their state get a new slice, and the old one is retired', async () => {
    await using redis = await startRedisServer()
    await using scene = await startPaidApp({
      config: { limits },
      storage: { redis_url: redis.url },
      clock: createFastClock(20),
    })
    const client = new Redis(redis.url)
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    assert.equal((await send(scene)).status, 200)
    await client.flushall()
    assert.equal((await send(scene)).status, 200)
    client.disconnect()
    assert.equal(await scene.remaining(), 10_000 - 2 * cost)
    const { broken, slices } = await operatorOf(scene.app.app).verifyLedger()
    assert.equal(broken, null)
    // One from before the flush and one after it; a busy machine may add one of the node's own in between.
    assert.ok(slices >= 2)
  })
})

describe('without PostgreSQL', { skip: withoutPostgres }, () => {
  const requestCount = 30

  async function startBehindProxy(): Promise<
    PaidApp & { proxy: Awaited<ReturnType<typeof startTcpProxy>>; skip(ms: number): void }
  > {
    const opened = new AsyncDisposableStack()
    const database = opened.use(await createScratchDatabase())
    const url = new URL(database.url)
    const proxy = opened.use(await startTcpProxy({ host: url.hostname, port: Number(url.port) }))
    url.port = String(proxy.port)
    const clock = createFastClock(20)
    const scene = opened.use(
      await startPaidApp({
        config: { secret: 'a secret of sixteen and more' },
        storage: { database_url: url.href },
        clock,
      }),
    )
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    // By then the node has seen its own setup among the changes, and does not read the key again.
    for (let count = 0; count < requestCount; count++) await (await send(scene)).arrayBuffer()
    return { ...scene, proxy, skip: clock.skip, [Symbol.asyncDispose]: () => opened.disposeAsync() }
  }

  it('charges wait on this node’s disk, and are written once it is back', async () => {
    await using scene = await startBehindProxy()
    scene.proxy.shut()
    for (let count = 1; count <= 3; count++) {
      const answer = (await (await send(scene)).json()) as Record<string, unknown>
      assert.equal(answer['remaining_credits'], 10_000 - (requestCount + count) * cost) // as far as this node knows
    }
    assert.equal(await figure(scene, 'gatehouse_charges_waiting'), 3)
    const balance = await scene.app.get('/v1/credits')
    assert.equal(balance.status, 503)
    assert.equal(((await balance.json()) as { error: { code: string } }).error.code, 'credit_balance_unavailable')
    assert.ok(Number(balance.headers.get('retry-after')) >= 1)

    scene.proxy.open()
    await eventually(async () => (await figure(scene, 'gatehouse_charges_waiting')) === 0)
    assert.equal(await scene.remaining(), 10_000 - (requestCount + 3) * cost)
    assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
  })

  it('no request is started once charges have waited too long, and readiness reports it', async () => {
    await using scene = await startBehindProxy()
    scene.proxy.shut()
    assert.equal((await send(scene)).status, 200)
    scene.skip(5 * 60_000)
    const rejected = await send(scene)
    assert.equal(rejected.status, 503)
    assert.ok(Number(rejected.headers.get('retry-after')) >= 1)
    const ready = await scene.app.get('/health/ready')
    assert.equal(ready.status, 503)
    assert.match(await ready.text(), /"part":"credits"/)
    scene.proxy.open()
    await eventually(async () => (await send(scene)).status === 200)
    assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
  })

  it('a request that the open slice does not cover is rejected as unavailable, not as unpaid', async () => {
    await using scene = await startBehindProxy()
    scene.proxy.shut()
    const rejected = await scene.app.post('/v1/chat/completions', { ...question, max_tokens: 5_000 })
    assert.equal(rejected.status, 503)
    assert.match(await rejected.text(), /credit_balance_unavailable/)
  })
})
