import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, question, startPaidHouse } from '../support/paid-house.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import type { Script } from '../support/upstream.ts'

const affordable = 37
const asked = 1_000
const costEach = 50

/** Nobody is answered before all have been decided: no credits come back meanwhile. */
const storages = [
  { name: 'in memory', storage: {}, skip: false },
  { name: 'in Redis', storage: { redis_url: redisUrl }, skip: withoutRedis },
]

describe('a balance that covers 37 of 1,000 requests at once', () => {
  for (const { name, storage, skip } of storages) {
    it(`pays for exactly 37 of them, counted ${name}`, { skip }, async () => {
      await using scene = await startPaidHouse({
        config: {
          models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 0, output: 1000 } }],
          credits: { starting: affordable * costEach },
        },
        storage,
      })
      const decided = Promise.withResolvers<void>()
      const wait: Script = async (response, request) => {
        await decided.promise
        await answerWith('Hello', { input: 3, output: costEach })(response, request)
      }
      scene.upstream.answer(wait)
      let refused = 0
      const answers = Array.from({ length: asked }, async () => {
        const answer = await scene.house.post('/v1/messages', { ...question, max_tokens: costEach })
        if (answer.status === 402 && ++refused === asked - affordable) decided.resolve()
        await answer.arrayBuffer()
        return answer.status
      })
      const statuses = await Promise.all(answers)
      assert.equal(statuses.filter((status) => status === 200).length, affordable)
      assert.equal(statuses.filter((status) => status === 402).length, asked - affordable)
      assert.equal(scene.upstream.requests.length, affordable)
      assert.equal(await scene.remaining(), 0)
      assert.equal((await scene.house.house.operations['ledger.verify']({})).broken, null)
    })
  }
})
