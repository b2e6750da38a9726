import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { connectRedis, type RedisConnection } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import type { AdmissionRequest } from '../../src/domain/limits/admission.ts'
import { contributing } from '../support/contributing.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { limitsOf, tierTable } from '../../src/domain/limits/tiers.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'

/** A store on the shared server, and a new organization. */
async function openStore() {
  const connection = connectRedis({ url: redisUrl ?? '', commandTimeoutMs: 5_000 })
  await connection.ready()
  const store = contributing(createRedisLimitStore({ connection, settings }))
  const organization = `org_${randomUUID()}`
  const subject = { organization, project: 'proj_1', key: 'key_1' }
  const limits = limitsOf(tierTable.free)
  const request = (requestId: string, micro: number | null): AdmissionRequest => ({
    ...subject,
    limits,
    mode: 'full',
    requestId,
    tokens: 5,
    micro,
  })
  const close = (): void => connection[Symbol.dispose]()
  const epoch = connection.epoch() ?? assert.fail()
  return { connection, store, subject, request, epoch, [Symbol.dispose]: close }
}

async function keysOf({ client }: RedisConnection, organization: string): Promise<string[]> {
  const keyNames: string[] = []
  for await (const keys of client.scanStream({ match: `*${organization}*`, count: 1_000 })) keyNames.push(...keys)
  return [...new Set(keyNames)].sort()
}

describe('the counters in Redis', { skip: withoutRedis }, () => {
  it('use versioned keys with one hash tag, and all keys but the slice expire', async () => {
    using node = await openStore()
    const { connection, store, subject, request, epoch } = node
    const { organization } = subject
    await store.grant({ organization, epoch, sliceId: 'slice', amountMicro: 100, opens: true })
    await store.admit(request('open', 5))
    await store.admit(request('settled', 5))
    await store.settle({ ...subject, requestId: 'settled', tokens: 50, micro: 5 })
    await store.renew([{ ...subject, requestId: 'open' }])

    const keys = await keysOf(connection, organization)
    const parts = ['c', 'cr', 'h', 'hx', 'i', 'k:key_1', 'o', 'p:proj_1', 'zk:key_1', 'zo', 'zp:proj_1']
    assert.deepEqual(
      keys,
      parts.map((part) => `rl1:{${organization}}:${part}`),
    )
    for (const key of keys) {
      const lifeMs = await connection.client.pttl(key)
      if (key.endsWith(':cr')) assert.equal(lifeMs, -1)
      else assert.ok(lifeMs > 0, key)
    }
  })

  it('leave only expiring keys after a rejection and a settlement without a hold', async () => {
    using node = await openStore()
    const { connection, store, subject, request } = node
    await store.admit(request('no slice', 5))
    await store.settle({ ...subject, requestId: 'unknown', tokens: 0, micro: 0 })
    await store.renew([{ ...subject, requestId: 'unknown' }])
    const keys = await keysOf(connection, subject.organization)
    assert.deepEqual(
      keys,
      ['c', 'i', 'o'].map((part) => `rl1:{${subject.organization}}:${part}`),
    )
    for (const key of keys) assert.ok((await connection.client.pttl(key)) > 0)
  })

  it('distinguish a script that fails from a server that is unreachable', async () => {
    const { connection, store, subject, request } = await openStore()
    await connection.client.set(`rl1:{${subject.organization}}:zo`, 'not a set of leases')
    await assert.rejects(async () => store.admit(request('one', null)), { name: 'LimitStoreError', reason: 'script' })
    await connection.client.del(`rl1:{${subject.organization}}:zo`) // other suites read all leases of this server
    connection[Symbol.dispose]()
    await assert.rejects(async () => store.admit(request('two', null)), {
      name: 'LimitStoreError',
      reason: 'unreachable',
    })
  })

  it('admit exactly as many of many parallel requests as the limit allows, over several connections', async () => {
    const nodes = await Promise.all([openStore(), openStore(), openStore()])
    const { subject } = nodes[0]
    const limits = limitsOf(tierTable.free, {
      key: { concurrent: 0 },
      project: { concurrent: 0 },
      organization: { concurrent: 0 },
    })
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        (nodes[at % 3] ?? nodes[0]).store.admit({
          ...subject,
          limits,
          mode: 'full',
          requestId: `req_${at}`,
          tokens: 1,
          micro: null,
        }),
      ),
    )
    assert.equal(verdicts.filter((verdict) => verdict.admitted).length, 60)
    for (const node of nodes) node[Symbol.dispose]()
  })
})
