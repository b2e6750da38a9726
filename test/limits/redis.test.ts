import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { connectRedis, type RedisConnection } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import type { AdmissionRequest } from '../../src/domain/limits/admission.ts'
import { contributing } from '../support/contributing.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { limitsOf, tierTable } from '../../src/domain/limits/tiers.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'

/** A store on the shared server, and a new organization. */
async function openStore(nowMs?: () => number) {
  const connection = connectRedis({ url: redisUrl ?? '', commandTimeoutMs: 5_000 })
  await connection.ready()
  const store = contributing(createRedisLimitStore({ connection, settings, ...(nowMs && { nowMs }) }))
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
    assert.deepEqual(
      keys,
      ['rl1:{*}:cr', 'rl2:{*}', 'rl2:{*}:c', 'rl2:{*}:l'].map((key) => key.replace('*', organization)),
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
      ['', ':c', ':l'].map((part) => `rl2:{${subject.organization}}${part}`),
    )
    for (const key of keys) assert.ok((await connection.client.pttl(key)) > 0)
  })

  it('distinguish a script that fails from a server that is unreachable', async () => {
    const { connection, store, subject, request } = await openStore()
    await connection.client.set(`rl1:{${subject.organization}}:cr`, 'not a slice')
    await assert.rejects(async () => store.admit(request('one', 5)), { name: 'LimitStoreError', reason: 'script' })
    connection[Symbol.dispose]()
    await assert.rejects(async () => store.admit(request('two', null)), {
      name: 'LimitStoreError',
      reason: 'unreachable',
    })
  })

  it('remove the counters of keys that nobody has used for a day, while the organization is in use', async () => {
    const time = { nowMs: 1_760_000_000_000 }
    using node = await openStore(() => time.nowMs)
    const { connection, store, subject } = node
    const send = async (from: number, to: number): Promise<void> => {
      for (let at = from; at < to; at++)
        await store.admit({ ...subject, key: `key_${at}`, limits: limitsOf(tierTable.tier_5), mode: 'count' })
    }
    await send(0, 40)
    time.nowMs += 26 * 3_600_000
    await send(40, 240)
    const fields = await connection.client.hkeys(`rl2:{${subject.organization}}`)
    const old = fields.filter((field) => /^k:key_([0-9]|[123][0-9])$/.test(field))
    assert.ok(old.length < 20, `${old.length} of 40`) // each new key removes those among eight random fields
    assert.equal(fields.filter((field) => field.startsWith('k:')).length, old.length + 200)
  })

  it('report thousands of requests in flight, and the exact wait for the slot of one, also after a renewal', async () => {
    const time = { nowMs: 1_760_000_000_000 }
    using node = await openStore(() => time.nowMs)
    const { store, subject } = node
    const inFlight = 3_000
    const limited = { ...unlimited, concurrent: inFlight }
    const limits = { key: { ...unlimited, concurrent: inFlight / 3 }, project: limited, organization: limited }
    const requestOf = (at: number) => ({ ...subject, key: `key_${at % 3}`, requestId: `request_${at}` })
    const admit = (at: number) => store.admit({ ...requestOf(at), limits, mode: 'full', tokens: 1, micro: null })
    const requests = Array.from({ length: inFlight }, (_, at) => at)
    await admit(0)
    time.nowMs += 500
    const admitted = await Promise.all(requests.slice(1).map(admit))
    assert.ok(admitted.every((verdict) => verdict.admitted))
    time.nowMs += 500
    const full = await admit(inFlight + 1)
    assert.deepEqual([full.admitted, full.limitStatus.organization.concurrent?.remaining], [false, 0])
    assert.equal(full.admitted || full.retryAfterMs, 29_500) // the first request has another key, so its slot is not enough

    await store.renew(requests.slice(0, 2_000).map(requestOf))
    time.nowMs += 29_500
    const after = await admit(inFlight + 1) // the slots of the other thousand have expired
    assert.deepEqual([after.admitted, after.limitStatus.organization.concurrent?.remaining], [true, 999])
    for (const at of requests) await store.settle({ ...requestOf(at), tokens: 1, micro: 0 })
    assert.equal((await admit(inFlight + 2)).limitStatus.organization.concurrent?.remaining, inFlight - 2)
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
