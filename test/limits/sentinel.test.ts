import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectRedis, type RedisConnection } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { contributing } from '../support/contributing.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { startRedisServer, withoutRedisServer } from '../support/redis-server.ts'
import { startSentinel, until } from '../support/redis-topologies.ts'

const organization = 'org'
const limits = { key: unlimited, project: unlimited, organization: unlimited }
const request = (requestId: string, micro: number) =>
  ({ organization, project: 'project', key: 'key', limits, mode: 'full', requestId, tokens: 5, micro }) as const

const nextEpoch = async (connection: RedisConnection, before: string): Promise<string> => {
  await until(() => connection.epoch() !== null && connection.epoch() !== before)
  return connection.epoch() ?? assert.fail()
}

describe('Redis behind Sentinel', { skip: withoutRedisServer }, () => {
  it('is found by the name of the primary, and after its death the promoted replica spends no slice of it', async () => {
    await using redis = await startSentinel()
    using connection = connectRedis({ url: redis.url, commandTimeoutMs: 5_000 })
    await connection.ready()
    const store = contributing(createRedisLimitStore({ connection, settings }))
    const epoch = connection.epoch() ?? assert.fail()
    await store.grant({ organization, epoch, sliceId: 'first', amountMicro: 100, opens: true })
    assert.equal((await store.admit(request('paid', 40))).credits?.leftMicro, 60)
    await until(async () => (await connection.client.wait(1, 1_000)) >= 1) // a replica that is still loading has nothing

    redis.primary.signal('SIGKILL')
    const next = await nextEpoch(connection, epoch)
    assert.equal((await store.accounts(organization))[0]?.slice?.leftMicro, 60) // the replica has the slice in its data
    const verdict = await store.admit(request('after', 40))
    assert.deepEqual([verdict.admitted, verdict.credits], [false, { epoch: next, sliceId: null, leftMicro: 0 }])
    await store.grant({ organization, epoch: next, sliceId: 'second', amountMicro: 50, opens: true })
    assert.equal((await store.admit(request('after', 40))).credits?.sliceId, 'second')
  })

  it('has a new epoch after every failover, also one back to a process that was the primary before', async () => {
    await using redis = await startSentinel()
    using connection = connectRedis({ url: redis.url, commandTimeoutMs: 5_000 })
    await connection.ready()
    const first = connection.epoch() ?? assert.fail()
    await redis.failover()
    const second = await nextEpoch(connection, first)
    await redis.failover()
    const third = await nextEpoch(connection, second)
    assert.equal(new Set([first, second, third]).size, 3)
    assert.ok(third.startsWith(first)) // the same process
  })
})

describe('a single Redis server', { skip: withoutRedisServer }, () => {
  it('has a new epoch when it was a replica meanwhile, although its process and connection are the same', async () => {
    await using server = await startRedisServer()
    using connection = connectRedis({ url: server.url, commandTimeoutMs: 5_000 })
    await connection.ready()
    const before = connection.epoch()
    await connection.client.replicaof('127.0.0.1', '1')
    await connection.client.replicaof('NO', 'ONE')
    await createRedisLimitStore({ connection, settings }).register('node', true)
    assert.notEqual(connection.epoch(), before)
  })
})
