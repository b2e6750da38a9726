import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { connectRedisCluster } from '../../src/adapters/stores/redis/cluster.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { limitStoreContract } from '../contracts/limit-store.contract.ts'
import { startTestApp } from '../support/app.ts'
import { contributeNothing, contributing } from '../support/contributing.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { withoutRedisServer } from '../support/redis-server.ts'
import { startRedisCluster, until } from '../support/redis-topologies.ts'

const limits = { key: unlimited, project: unlimited, organization: unlimited }
const requestOf = (organization: string, requestId: string, micro: number | null) =>
  ({ organization, project: 'project', key: 'key', limits, mode: 'full', requestId, tokens: 5, micro }) as const

async function openCluster() {
  const cluster = await startRedisCluster()
  const connection = connectRedisCluster({ url: cluster.url, commandTimeoutMs: 5_000 })
  await connection.ready()
  const epochOf = (organization: string): string => connection.shardOf(organization)?.epoch() ?? assert.fail()
  return {
    cluster,
    connection,
    epochOf,
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]()
      await cluster[Symbol.asyncDispose]()
    },
  }
}

describe('a Redis Cluster', { skip: withoutRedisServer }, () => {
  it('keeps each organization on one of its servers, which has an epoch of its own', async () => {
    await using scene = await openCluster()
    const store = contributing(createRedisLimitStore({ connection: scene.connection, settings }))
    const organizations = Array.from({ length: 30 }, (_, at) => `org_${at}`)
    const verdicts = await Promise.all(organizations.map((one) => store.admit(requestOf(one, 'request', null))))
    assert.ok(verdicts.every(({ admitted }) => admitted))
    assert.equal(new Set(organizations.map(scene.epochOf)).size, 3)
    await store.renew(organizations.map((one) => requestOf(one, 'request', null)))
    assert.deepEqual(await store.register('node', true), ['node'])
    await store.probe()
  })

  it('spends no slice of a primary after its replica was promoted, and continues with those of the others', async () => {
    await using scene = await openCluster()
    const { connection, epochOf, cluster } = scene
    const store = contributing(createRedisLimitStore({ connection, settings }))
    await store.register('node', true)
    const organizations = Array.from({ length: 12 }, (_, at) => `org_${at}`)
    const epochs = new Map(organizations.map((one) => [one, epochOf(one)]))
    for (const one of organizations)
      await store.grant({ organization: one, epoch: epochOf(one), sliceId: 'slice', amountMicro: 100, opens: true })

    await cluster.failover()
    const verdicts = await Promise.all(organizations.map((one) => store.admit(requestOf(one, 'after', 10))))
    await until(() => connection.isConnected())
    const moved = organizations.filter((one) => epochOf(one) !== epochs.get(one))
    assert.ok(moved.length > 0 && moved.length < organizations.length)
    for (const [at, one] of organizations.entries()) assert.equal(verdicts[at]?.admitted, !moved.includes(one), one)
    assert.deepEqual(await store.register('node', false), []) // the promoted server has no list of this epoch
  })

  it('does not count as available while a primary is gone, and does again once its replica has replaced it', async () => {
    await using scene = await openCluster()
    const store = createRedisLimitStore({ connection: scene.connection, settings })
    await store.probe()
    scene.cluster.servers[0].signal('SIGKILL')
    await until(() => !scene.connection.isConnected())
    await assert.rejects(store.probe(), { name: 'LimitStoreError', reason: 'unreachable' })
    await until(() =>
      store.probe().then(
        () => true,
        () => false,
      ),
    )
  })
})

it('one minute admits exactly its limit while a primary of the cluster is killed and replaced', async (context) => {
  if (withoutRedisServer) return context.skip(withoutRedisServer)
  await using cluster = await startRedisCluster()
  const concurrent = { key: 0, project: 0, organization: 0 }
  await using scene = await startTestApp({
    storage: { redis_url: cluster.url, redis_timeout_ms: 1_000 },
    config: { limits: { tiers: { free: { rpm: 20, rpd: 0, tpm: 0, tpd: 0, concurrent } } } },
  })
  const question = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
  const passed = async (times: number): Promise<number> => {
    const responses = Array.from({ length: times }, () => scene.post('/v1/messages', question))
    return (await Promise.all(responses)).filter(({ ok }) => ok).length
  }
  const isDegraded = async (): Promise<boolean> =>
    /^gatehouse_limits_degraded 1$/m.test(await (await scene.get('/metrics')).text())

  assert.equal(await isDegraded(), false)
  const counts = [await passed(12)]
  cluster.servers[0].signal('SIGKILL')
  await until(isDegraded)
  counts.push(await passed(5))
  await until(async () => !(await isDegraded()))
  counts.push(await passed(30))
  assert.deepEqual(counts, [12, 5, 3])
})

describe('on a Redis Cluster', { skip: withoutRedisServer }, () => {
  let scene: Awaited<ReturnType<typeof openCluster>> | undefined
  before(async () => void (scene = await openCluster()))
  after(() => scene?.[Symbol.asyncDispose]())

  limitStoreContract('Redis Cluster', withoutRedisServer, async (given) => {
    const { connection, epochOf } = scene ?? assert.fail()
    const time = { nowMs: 1_760_000_000_000 }
    const store = contributing(createRedisLimitStore({ connection, settings: given, nowMs: () => time.nowMs }))
    const organization = `org_${randomUUID()}`
    await contributeNothing(store, organization)
    return Object.assign(time, { store, organization, epoch: epochOf(organization) })
  })
})
