import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { connectRedis, type RedisConnection } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { contributeNothing, contributing } from '../support/contributing.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { limitStoreContract, type OpenWorld } from './limit-store.contract.ts'

const startMs = 1_760_000_000_000

const inMemory: OpenWorld = async (settings) => {
  const time = { nowMs: startMs }
  const store = createLimitEngine({ nowMs: () => time.nowMs, epoch: 'this life', settings })
  return Object.assign(time, { store, organization: 'org', epoch: store.epoch })
}

let connection: RedisConnection | undefined
after(() => connection?.[Symbol.dispose]())

const inRedis: OpenWorld = async (settings) => {
  connection ??= connectRedis({ url: redisUrl ?? '', commandTimeoutMs: 5_000 })
  await connection.ready()
  const time = { nowMs: startMs }
  const store = contributing(createRedisLimitStore({ connection, settings, nowMs: () => time.nowMs }))
  const organization = `org_${randomUUID()}`
  await contributeNothing(store, organization)
  return Object.assign(time, { store, organization, epoch: connection.epoch() ?? '' })
}

limitStoreContract('memory', false, inMemory)
limitStoreContract('Redis', withoutRedis, inRedis)
