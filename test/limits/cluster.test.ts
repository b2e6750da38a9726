import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectRedis } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { systemClock } from '../../src/base/clock.ts'
import { contributing } from '../support/contributing.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { limitsOf, tierTable } from '../../src/domain/limits/tiers.ts'
import { startRedisServer, withoutRedisServer } from '../support/redis-server.ts'

test('every call uses keys of one cluster slot only', { skip: withoutRedisServer }, async () => {
  await using server = await startRedisServer('--cluster-enabled', 'yes')
  using connection = connectRedis({ url: server.url, commandTimeoutMs: 5_000 })
  await connection.ready()
  await connection.client.cluster('ADDSLOTSRANGE', 0, 16_383)
  while (!(await connection.client.cluster('INFO')).includes('cluster_state:ok')) await new Promise(setImmediate)

  const shared = createRedisLimitStore({ connection, settings })
  const store = contributing(shared)
  const epoch = connection.epoch() ?? assert.fail()
  const subject = { organization: 'org_1', project: 'proj_1', key: 'key_1' }
  const request = { ...subject, requestId: 'req_1' }
  const limits = limitsOf(tierTable.free)

  const slice = { organization: 'org_1', epoch, sliceId: 'slice' }
  assert.equal(await store.grant({ ...slice, amountMicro: 100, opens: true }), 'granted')
  assert.equal((await store.admit({ ...request, limits, mode: 'full', tokens: 5, micro: 5 })).admitted, true)
  assert.equal((await store.admit({ ...subject, limits, mode: 'count' })).admitted, true)
  await store.renew([request, { ...request, organization: 'org_2' }])
  assert.equal((await store.accounts('org_1'))[0]?.holds.length, 1)
  await store.leave(request)
  assert.equal(await store.settle({ ...request, tokens: 9, micro: 4 }), 'settled')
  assert.equal(await store.close(slice), 'closed')
  const minute = [[Math.floor(systemClock.nowMs() / 1_000), 1, 5]] as const
  const scopes = [{ scope: 'key', id: 'key_1', minute, day: [] }] as const
  const running = [{ ...request, tokens: 5, admittedAtMs: systemClock.nowMs() }]
  const use = { organization: 'org_1', scopes, running }
  assert.equal(await shared.contribute({ use, node: 'node', number: 1, isAll: true }), 'counted')
  assert.deepEqual(await shared.register('node', true), ['node'])
})
