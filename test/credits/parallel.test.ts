import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { connectRedis } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import type { LimitStore } from '../../src/domain/limits/store.ts'
import { answerWith, question, startPaidApp } from '../support/paid-app.ts'
import { contributing } from '../support/contributing.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import type { Script } from '../support/upstream.ts'
import { openQuickDatabase, openScene, settings } from './simulation.ts'
import { operatorOf } from '../support/operator.ts'

const database = await openQuickDatabase()
after(() => database[Symbol.asyncDispose]())

const affordable = 37
const costEach = 50

describe('a balance that covers 37 of 1,000 requests at once', () => {
  const requestCount = 1_000

  /** Three nodes with shared counters admit all requests in one turn of the event loop. */
  async function payOnThreeNodes(limits: LimitStore, epoch: string): Promise<void> {
    const scene = await openScene(database, `org_${randomUUID()}`)
    await scene.grant(affordable * costEach, 'start')
    const options = { limits, sharedEpoch: () => epoch, isAlive: () => true, onFailpoint: () => {} }
    const nodes = ['one', 'two', 'three'].map((ownEpoch) => scene.startNode({ ...options, ownEpoch }))
    const nodeOf = (at: number) => nodes[at % nodes.length] ?? assert.fail()
    const running = await Promise.all(
      Array.from({ length: requestCount }, (_, at) => nodeOf(at).admit(`${scene.organizationId} ${at}`, costEach)),
    )
    const admitted = running.filter((request) => request !== undefined)
    assert.equal(admitted.length, affordable)
    await Promise.all(admitted.map((request, at) => nodeOf(at).settle(request, costEach)))
    const { heldMicro, availableMicro, spentMicro } =
      (await scene.ledger.balance(scene.organizationId)) ?? assert.fail()
    assert.deepEqual([availableMicro, heldMicro, spentMicro], [0, 0, affordable * costEach])
    await scene.check()
  }

  it('pays for exactly 37 of them, counted in memory', async () => {
    const epoch = 'one life'
    await payOnThreeNodes(createLimitEngine({ nowMs: () => 1_760_000_000_000, epoch, settings }), epoch)
  })

  it('pays for exactly 37 of them, counted in Redis', { skip: withoutRedis }, async () => {
    using connection = connectRedis({ url: redisUrl ?? '', commandTimeoutMs: 10_000 })
    await connection.ready()
    await payOnThreeNodes(contributing(createRedisLimitStore({ connection, settings })), connection.epoch() ?? '')
  })
})

describe('a balance that covers 37 of 1,000 requests over HTTP', () => {
  const requestCount = 1_000
  // Test machines are busy, and a slow reply must not count as an outage of Redis.
  const patient = { redis_url: redisUrl, redis_timeout_ms: 5_000 }

  for (const { name, storage, skip } of [
    { name: 'in memory', storage: {}, skip: false },
    { name: 'in Redis', storage: patient, skip: withoutRedis },
  ]) {
    it(`pays for exactly 37 of them, counted ${name}`, { skip }, async () => {
      await using scene = await startPaidApp({
        config: {
          models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 0, output: 1000 } }],
          credits: { starting: affordable * costEach },
        },
        storage,
      })
      // No request is answered before all are admitted or rejected, so no credits are returned meanwhile.
      const decided = Promise.withResolvers<void>()
      const wait: Script = async (response, request) => {
        await decided.promise
        await answerWith('Hello', { input: 3, output: costEach })(response, request)
      }
      scene.upstream.answer(wait)
      let notAdmitted = 0
      const send = async (): Promise<string> => {
        const answer = await scene.app.post('/v1/messages', { ...question, max_tokens: costEach }).catch(String)
        const isAdmitted = typeof answer !== 'string' && answer.status === 200
        if (!isAdmitted && ++notAdmitted === requestCount - affordable) decided.resolve()
        if (typeof answer === 'string') return answer
        await answer.arrayBuffer()
        return String(answer.status)
      }
      const outcomes = await Promise.all(Array.from({ length: requestCount }, send))
      const byOutcome = Map.groupBy(outcomes, (outcome) => outcome)
      assert.deepEqual(Object.fromEntries([...byOutcome].map(([outcome, { length }]) => [outcome, length])), {
        200: affordable,
        402: requestCount - affordable,
      })
      assert.equal(scene.upstream.requests.length, affordable)
      assert.equal(await scene.remaining(), 0)
      assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
    })
  }
})
