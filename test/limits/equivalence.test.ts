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
import type { Command, Contributable, Scene } from './commands.ts'
import type { SharedLimitStore } from '../../src/domain/limits/store.ts'
import type { LimitUsage } from '../../src/domain/limits/usage.ts'

const oneOfEach: readonly Command[] = [
  { do: 'grant', slice: 0, amount: 100, opens: true },
  { do: 'admit', id: 0, tokens: 1, micro: 1 },
  { do: 'renew', ids: [0] },
  { do: 'leave', id: 0 },
  { do: 'settle', id: 0, tokens: 1, micro: 1 },
  { do: 'count budgets', token: 1, phase: 0, counters: ['bud_1'], spent: null },
  { do: 'read' },
  { do: 'contribute', id: 0, secondsAgo: 1, hoursAgo: 1, requests: 1, tokens: 1, isRunning: true },
  { do: 'close', slice: 0 },
]

test(
  'Redis gives exactly the same results as the engine in memory for every sequence of calls',
  { skip: withoutRedis },
  async () => {
    using connection = connectRedis({ url: redisUrl ?? '', commandTimeoutMs: 10_000 })
    await connection.ready()
    const epoch = connection.epoch() ?? ''

    /** Pipelines the whole sequence, then compares. The time is read when each command is sent. */
    const answers = async (scene: Scene, settings: LimitSettings, steps: readonly Command[]) => {
      const nowMs = (): number => scene.nowMs
      const engine = createLimitEngine({ nowMs, epoch, settings, idleMs: Infinity })
      const memory = { ...engine, contribute: (use: LimitUsage) => (engine.contribute(use), 'counted') }
      engine.contribute({ organization: scene.organization, scopes: [], running: [] })
      const redis = await openRedis(createRedisLimitStore({ connection, settings, nowMs }), scene.organization)
      return steps.map((step) => {
        prepare(scene, step)
        return [perform(redis, scene, step), perform(memory, scene, step)] as const
      })
    }
    const agree = async (
      limits: Scene['limits'],
      settings: LimitSettings,
      steps: readonly Command[],
    ): Promise<void> => {
      const scene = { organization: `org_${randomUUID()}`, epoch, limits, nowMs: startMs, crashes: 0, contributions: 0 }
      for (const [fromRedis, fromMemory] of await answers(scene, settings, [...steps, { do: 'read' }])) {
        assert.deepEqual(inOrder(await fromRedis), inOrder(fromMemory))
      }
    }

    const [limits, settings] = fc.sample(fc.tuple(limitsArbitrary, settingsArbitrary), 1)[0] ?? assert.fail()
    for (const step of oneOfEach) await agree(limits, settings, [step]) // from here on every script is loaded

    const steps = fc.array(commandArbitrary, { minLength: 20, maxLength: 100, size: 'max' })
    await fc.assert(fc.asyncProperty(limitsArbitrary, settingsArbitrary, steps, agree), { numRuns: 300 })
  },
)

/** Like a node that has no usage to contribute yet. */
async function openRedis(shared: SharedLimitStore, organization: string): Promise<Contributable> {
  const contribution = { node: 'test', isAll: false }
  await shared.contribute({ ...contribution, use: { organization, scopes: [], running: [] }, number: 0, isAll: true })
  return {
    ...shared,
    async admit(request) {
      const verdict = await shared.admit(request)
      return verdict === 'forgotten' ? assert.fail('forgotten') : verdict
    },
    contribute: (use, number) => shared.contribute({ ...contribution, use, number }),
  }
}

/** The order of holds is undefined. */
function inOrder(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer
  return answer.map((account: CreditAccount) => ({
    ...account,
    holds: account.holds.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1)),
  }))
}
