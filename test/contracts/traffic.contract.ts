import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { trafficStore } from '../../src/adapters/stores/sql/rollup/traffic.ts'
import { trimRollup } from '../../src/adapters/stores/sql/rollup/trim.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import type { TrafficGroup } from '../../src/domain/traffic/traffic.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const start = Date.UTC(2026, 0, 1) / 1000
const hour = 3_600
const day = 24 * hour

/** The contract of every store of traffic sums. */
export function trafficContract({ name, skip, open }: Engine): void {
  describe(`traffic: ${name}`, { skip }, () => {
    it('sums up each request of the audit log once, folded or not', async () => {
      await using scene = await openScene(open)
      await scene.request({ model: 'a', latencyMs: 30, costUsd: 0.5 })
      await scene.request({ model: 'a', latencyMs: 400 })
      await scene.fold()
      await scene.request({ model: 'b', latencyMs: 30 })
      const before = await scene.sums('model')
      await scene.fold()
      await scene.fold()
      const [first, second] = await scene.sums('model')
      assert.deepEqual(before, [first, second])
      assert.deepEqual(await scene.sums('model', hour, { limit: 1 }), [first])
      assert.deepEqual([first?.group, first?.requests, first?.costMicroUsd], ['a', 2, 500_000])
      assert.deepEqual([second?.group, second?.requests], ['b', 1])
      assert.deepEqual(first?.latency.slice(0, 5), [0, 1, 0, 0, 1])
    })

    it('counts no request twice if two nodes fold at the same time', async () => {
      await using scene = await openScene(open)
      for (let at = 0; at < 5; at++) await scene.request({})
      await Promise.all([scene.fold(), scene.fold(), scene.fold()])
      assert.deepEqual(
        (await scene.sums()).map(({ requests }) => requests),
        [5],
      )
    })

    it('tells denied and failed requests from answered ones', async () => {
      await using scene = await openScene(open)
      await scene.request({ decision: 'refuse', isEnforced: true, failure: 'policy_blocked' })
      await scene.request({ decision: 'refuse', isEnforced: false })
      await scene.request({ failure: 'upstream_timeout' })
      const [sum] = await scene.sums()
      assert.deepEqual([sum?.requests, sum?.denied, sum?.errors], [3, 1, 1])
      assert.deepEqual(
        (await scene.sums('status')).map(({ group, requests }) => [group, requests]),
        [
          ['denied', 1],
          ['error', 1],
          ['ok', 1],
        ],
      )
    })

    it('sums up by the key of the caller', async () => {
      await using scene = await openScene(open)
      await scene.request({ keyId: 'key_1', costUsd: 0.5 })
      await scene.request({ keyId: 'key_2', failure: 'upstream_timeout' })
      await scene.fold()
      await scene.request({ keyId: 'key_1', model: 'other' })
      const byKey = (await scene.sums('key')).map((sum) => [sum.group, sum.requests, sum.errors, sum.costMicroUsd])
      assert.deepEqual(byKey, [
        ['key_1', 2, 0, 500_000],
        ['key_2', 1, 1, 0],
      ])
    })

    it('keeps organizations apart', async () => {
      await using scene = await openScene(open)
      await scene.request({}, 'org_2')
      assert.deepEqual(await scene.sums(), [])
      await scene.fold()
      assert.deepEqual(await scene.sums(), [])
      assert.deepEqual(await scene.sums('key'), [])
    })

    it('has the same sums by hour after the minutes were removed, and by day after the hours', async () => {
      await using scene = await openScene(open)
      for (let at = 0; at < 6; at++) {
        await scene.request({ latencyMs: 10 })
        scene.clock.passMs(25 * 60_000)
      }
      await scene.fold()
      const requests = async (step: number) =>
        (await scene.sums('decision', step)).map((sum) => [sum.startTime - start, sum.requests])
      const byHour = [
        [0, 3],
        [hour, 2],
        [2 * hour, 1],
      ]
      assert.deepEqual(await requests(hour), byHour)
      assert.equal((await requests(60)).length, 6)
      await scene.trimAfter(3 * day)
      assert.deepEqual(await requests(hour), byHour)
      assert.deepEqual(await requests(60), byHour)
      await scene.trimAfter(100 * day)
      assert.deepEqual(await requests(hour), [[0, 6]])
      assert.deepEqual(await requests(day), [[0, 6]])
      await scene.trimAfter(1_200 * day)
      assert.deepEqual(await requests(day), [])
    })

    it('reads whole minutes at the ends of a period, and whole hours where the minutes are gone', async () => {
      await using scene = await openScene(open)
      for (let at = 0; at < 4; at++) {
        await scene.request({})
        scene.clock.passMs(30 * 60_000)
      }
      const from = start + hour / 2 + 30
      const total = async () =>
        (await scene.sums(undefined, day, { from })).reduce((sum, { requests }) => sum + requests, 0)
      assert.equal(await total(), 3)
      await scene.fold()
      assert.equal(await total(), 3)
      await scene.trimAfter(3 * day)
      assert.equal(await total(), 4)
    })
  })
}

type Request = {
  readonly keyId?: string
  readonly model?: string
  readonly latencyMs?: number
  readonly costUsd?: number
  readonly decision?: 'allow' | 'refuse'
  readonly isEnforced?: boolean
  readonly failure?: string
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const clock = setClock(start * 1000)
  const log = await openAuditLog(database, clock)
  const store = trafficStore(database, clock)
  return {
    clock,
    fold: () => foldStoredDeltas(database),
    /** Sets the clock to this time after the start, and removes what is old by then. */
    async trimAfter(seconds: number) {
      clock.setMs((start + seconds) * 1000)
      await trimRollup(database, { nowSeconds: start + seconds, userDays: 90 })
    },
    async request(given: Request, organizationId = 'org_1') {
      const { keyId, model = 'm', latencyMs = 5, costUsd, decision = 'allow', isEnforced = true, failure } = given
      const facts: Partial<EventFacts> = {
        timeMs: clock.nowMs(),
        actor: { credentialId: keyId },
        verdict: { decision, isEnforced },
        model: { provider: 'p', name: model, inputTokens: 1, outputTokens: 2, costUsd },
        call: { method: 'POST', path: '/v1/messages', address: '127.0.0.1', status: 200, latencyMs },
        ...(failure !== undefined && { failure: { code: failure } }),
      }
      await log.append(1, facts, organizationId)
    },
    sums: (groupBy?: TrafficGroup, step = hour, { limit = 1_000, from = start } = {}) =>
      store.sums({ organizationId: 'org_1', from, to: start + day, step, groupBy, limit }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
