import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { connectRedis } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import type { CreditAccount, LimitSettings } from '../../src/domain/limits/admission.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { commandArbitrary, limitsArbitrary, perform, prepare, settingsArbitrary, startMs } from './commands.ts'
import type { Command, Scene } from './commands.ts'

const oneOfEach: readonly Command[] = [
  { do: 'grant', slice: 0, amount: 100, opens: true },
  { do: 'admit', id: 0, tokens: 1, micro: 1 },
  { do: 'renew', ids: [0] },
  { do: 'leave', id: 0 },
  { do: 'settle', id: 0, tokens: 1, micro: 1 },
  { do: 'look' },
  { do: 'close', slice: 0 },
]

test('Redis answers every sequence of calls exactly as the engine in memory does', { skip: withoutRedis }, async () => {
  using connection = connectRedis({ url: redisUrl ?? '', commandTimeoutMs: 10_000 })
  await connection.ready()
  const epoch = connection.epoch() ?? ''

  /** Sends the whole sequence down the connection, then compares; the time is read as each command is sent. */
  const answers = (scene: Scene, settings: LimitSettings, steps: readonly Command[]) => {
    const nowMs = (): number => scene.nowMs
    const memory = createLimitEngine({ nowMs, epoch, settings, idleMs: Infinity })
    const redis = createRedisLimitStore({ connection, settings, nowMs })
    return steps.map((step) => {
      prepare(scene, step)
      return [perform(redis, scene, step), perform(memory, scene, step)] as const
    })
  }
  const agree = async (limits: Scene['limits'], settings: LimitSettings, steps: readonly Command[]): Promise<void> => {
    const scene = { organization: `org_${randomUUID()}`, epoch, limits, nowMs: startMs, life: 0 }
    for (const [fromRedis, fromMemory] of answers(scene, settings, [...steps, { do: 'look' }])) {
      assert.deepEqual(inOrder(await fromRedis), inOrder(fromMemory))
    }
  }

  const [limits, settings] = fc.sample(fc.tuple(limitsArbitrary, settingsArbitrary), 1)[0] ?? assert.fail()
  for (const step of oneOfEach) await agree(limits, settings, [step]) // from here on the server knows every script

  const steps = fc.array(commandArbitrary, { minLength: 20, maxLength: 100, size: 'max' })
  await fc.assert(fc.asyncProperty(limitsArbitrary, settingsArbitrary, steps, agree), { numRuns: 300 })
})

/** Holds have no order of their own. */
function inOrder(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer
  return answer.map((account: CreditAccount) => ({
    ...account,
    holds: account.holds.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1)),
  }))
}
