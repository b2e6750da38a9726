import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectRedis } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { repeat, systemClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { AdmissionRequest } from '../../src/domain/limits/admission.ts'
import { contributing } from '../support/contributing.ts'
import { startTestApp } from '../support/app.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { createFallbackStore } from '../../src/domain/limits/fallback.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { LimitStoreError } from '../../src/domain/limits/store.ts'
import { startRedisServer, withoutRedisServer } from '../support/redis-server.ts'

const organization = 'org'
const limits = { key: { ...unlimited, rpm: 20 }, project: unlimited, organization: unlimited }
const subject = { organization, project: 'project', key: 'key' }
const request = (requestId: string, micro: number | null = null): AdmissionRequest => ({
  ...subject,
  limits,
  mode: 'full',
  requestId,
  tokens: 5,
  micro,
})

/** A node with its own Redis, configured as one of two nodes. */
async function startNode() {
  const server = await startRedisServer()
  const connection = connectRedis({ url: server.url, commandTimeoutMs: 200 }) // test machines are busy
  await connection.ready()
  const shared = createRedisLimitStore({ connection, settings })
  await contributing(shared).admit({ ...subject, organization: 'warm-up', limits, mode: 'count' })
  await shared.settle({ ...subject, organization: 'warm-up', requestId: 'none', tokens: 0, micro: 0 })

  const nowMs = (): number => systemClock.nowMs()
  const local = createLimitEngine({ nowMs, epoch: 'this process', settings })
  const unsent = createLimitEngine({ nowMs, epoch: 'this process', settings })
  let changed = Promise.withResolvers<boolean>()
  const onChange = (isDegraded: boolean): void => {
    changed.resolve(isDegraded)
    changed = Promise.withResolvers<boolean>()
  }
  const store = createFallbackStore({
    shared,
    local,
    unsent,
    nodeId: 'this process',
    membership: { count: () => 2, isAlive: () => true },
    clock: systemClock,
    random: systemRandom,
    onChange,
  })

  const contribution = repeat(systemClock, store.sync, 1_000) // as the job does

  /** Sends requests until the node falls back from Redis. */
  const degrade = async (): Promise<void> => {
    for (let count = 0; !store.isDegraded(); count++) await store.admit(request(`lost_${count}`))
  }
  return {
    server,
    connection,
    shared,
    local,
    store,
    degrade,
    nextChange: () => changed.promise,
    async [Symbol.asyncDispose]() {
      contribution[Symbol.dispose]()
      store[Symbol.dispose]()
      connection[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('without Redis', { skip: withoutRedisServer }, () => {
  it('a suspended server costs a few timeouts, then the node enforces its share locally, and later uses Redis again', async () => {
    await using node = await startNode()
    await node.store.admit(request('before'))
    node.server.signal('SIGSTOP')
    await node.degrade()
    const alone = await node.store.admit(request('alone'))
    assert.equal(alone.admitted, true)
    assert.equal(alone.limitStatus.key.rpm?.limit, 10)

    const back = node.nextChange()
    node.server.signal('SIGCONT')
    assert.equal(await back, false)
    const after = await node.store.admit(request('after'))
    const [account] = await node.shared.accounts(organization)
    const open = account?.holds.map(({ requestId }) => requestId) ?? []
    // Requests that were admitted locally are in flight here as well.
    assert.deepEqual([open.includes('before'), open.includes('alone'), open.includes('after')], [true, true, true])
    assert.equal(after.limitStatus.key.rpm?.limit, 20)
    assert.ok((after.limitStatus.key.rpm?.remaining ?? 20) <= 20 - open.length)
    assert.equal(await node.store.settle({ ...subject, requestId: 'alone', tokens: 5, micro: 0 }), 'settled')
  })

  it('a killed server that restarts empty has a new epoch, and no slice of the old one is spent', async () => {
    await using node = await startNode()
    const epoch = node.connection.epoch() ?? assert.fail()
    const slice = { organization, epoch, sliceId: 'slice', amountMicro: 100, opens: true }
    assert.equal(await node.store.grant(slice), 'granted')
    assert.equal((await node.store.admit(request('paid', 40))).credits?.leftMicro, 60)

    node.server.signal('SIGKILL')
    await node.degrade()
    const alone = await node.store.admit(request('alone', 40))
    assert.deepEqual(alone.credits, { epoch: 'this process', sliceId: null, leftMicro: 0 })

    const back = node.nextChange()
    await node.server.restart()
    assert.equal(await back, false)
    const after = await node.store.admit(request('after', 40))
    assert.equal(after.admitted, false)
    assert.equal(after.credits?.sliceId, null)
    assert.notEqual(after.credits?.epoch, epoch)
    assert.equal(after.credits?.epoch, node.connection.epoch()) // the scripts were loaded again
    assert.equal(await node.store.grant(slice), 'stale')
    assert.equal(await node.store.settle({ ...subject, requestId: 'paid', tokens: 5, micro: 40 }), 'settled')
  })

  it('a server restored from an old copy has the old slice in its data, and does not spend it', async () => {
    await using node = await startNode()
    const epoch = node.connection.epoch() ?? assert.fail()
    await node.store.grant({ organization, epoch, sliceId: 'slice', amountMicro: 100, opens: true })
    await node.connection.client.save()
    await node.store.admit(request('spends it all', 100))

    node.server.signal('SIGKILL')
    await node.degrade()
    const back = node.nextChange()
    await node.server.restart()
    await back
    const [stale] = await node.shared.accounts(organization)
    assert.equal(stale?.slice?.leftMicro, 100) // the copy was made before the spending
    const verdict = await node.store.admit(request('again', 100))
    assert.equal(verdict.admitted, false)
    assert.equal(verdict.credits?.sliceId, null)

    const now = node.connection.epoch() ?? assert.fail()
    assert.equal(
      await node.store.grant({ organization, epoch: now, sliceId: 'next', amountMicro: 7, opens: true }),
      'granted',
    )
    assert.equal((await node.store.admit(request('paid', 7))).credits?.sliceId, 'next')
  })

  it('a server that answers but rejects writes, as after a failover, does not count as available', async () => {
    await using node = await startNode()
    const { client } = node.connection
    await client.replicaof('127.0.0.1', '1')
    await assert.rejects(node.shared.probe(), LimitStoreError)
    await client.replicaof('NO', 'ONE')
    await node.shared.probe()
  })
})

it('one minute admits exactly its limit while Redis is killed, restarted empty and flushed', async (context) => {
  if (withoutRedisServer) return context.skip(withoutRedisServer)
  await using server = await startRedisServer()
  await using scene = await startTestApp({
    storage: { redis_url: server.url, redis_timeout_ms: 1_000 },
    config: { limits: { tiers: { free: { ...free, rpm: 20 } } } },
  })
  const question = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
  const passed = async (times: number): Promise<number> => {
    const responses = Array.from({ length: times }, () => scene.post('/v1/messages', question))
    const statuses = await Promise.all(responses.map(async (answer) => ((await answer).ok ? 1 : 0)))
    return statuses.reduce<number>((sum, one) => sum + one, 0)
  }
  const degraded = async (): Promise<boolean> =>
    /^gatehouse_limits_degraded 1$/m.test(await (await scene.get('/metrics')).text())

  const counts = [await passed(12)]
  server.signal('SIGKILL')
  counts.push(await passed(5))
  await server.restart()
  while (await degraded()) await new Promise(setImmediate)
  counts.push(await passed(30))
  using connection = connectRedis({ url: server.url, commandTimeoutMs: 5_000 })
  await connection.ready()
  await connection.client.flushall()
  counts.push(await passed(30))
  assert.deepEqual(counts, [12, 5, 3, 0])
})

const free = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }

it('an app that cannot reach its Redis reports it before the first request', async () => {
  await using scene = await startTestApp({ storage: { redis_url: 'redis://127.0.0.1:1' } })
  const { degraded } = (await (await scene.get('/health/ready')).json()) as { degraded?: { part: string }[] }
  assert.deepEqual(
    degraded?.map(({ part }) => part),
    ['limits'],
  )
  assert.match(await (await scene.get('/metrics')).text(), /^gatehouse_limits_degraded 1$/m)
})
