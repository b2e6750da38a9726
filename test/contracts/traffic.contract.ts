import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { trafficStore } from '../../src/adapters/stores/sql/traffic.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import type { TrafficGroup } from '../../src/domain/traffic/traffic.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const start = Date.UTC(2026, 0, 1) / 1000
const hour = 3_600

/** The contract of every store of traffic sums. */
export function trafficContract({ name, skip, open }: Engine): void {
  describe(`traffic: ${name}`, { skip }, () => {
    it('sums up each request of the audit log once', async () => {
      await using scene = await openScene(open)
      await scene.request({ model: 'a', latencyMs: 30, costUsd: 0.5 })
      await scene.request({ model: 'a', latencyMs: 400 })
      await scene.store.addNewEvents()
      await scene.request({ model: 'b', latencyMs: 30 })
      await scene.store.addNewEvents()
      await scene.store.addNewEvents()
      const [first, second] = await scene.sums('model')
      assert.deepEqual(await scene.sums('model', hour, 1), [first])
      assert.deepEqual([first?.group, first?.requests, first?.costMicroUsd], ['a', 2, 500_000])
      assert.deepEqual([second?.group, second?.requests], ['b', 1])
      assert.deepEqual(first?.latency.slice(0, 5), [0, 1, 0, 0, 1])
    })

    it('counts no event twice if two nodes add at the same time', async () => {
      await using scene = await openScene(open)
      for (let at = 0; at < 5; at++) await scene.request({})
      await Promise.all([scene.store.addNewEvents(), scene.store.addNewEvents(), scene.store.addNewEvents()])
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
      await scene.store.addNewEvents()
      const [sum] = await scene.sums()
      assert.deepEqual([sum?.requests, sum?.denied, sum?.errors], [3, 1, 1])
    })

    it('sums up by the key of the caller, before and after minutes became hours', async () => {
      await using scene = await openScene(open)
      await scene.request({ keyId: 'key_1', costUsd: 0.5 })
      await scene.request({ keyId: 'key_2', failure: 'upstream_timeout' })
      await scene.request({ keyId: 'key_1', model: 'other' })
      await scene.store.addNewEvents()
      const byKey = async () =>
        (await scene.sums('key')).map((sum) => [sum.group, sum.requests, sum.errors, sum.costMicroUsd])
      const expected = [
        ['key_1', 2, 0, 500_000],
        ['key_2', 1, 1, 0],
      ]
      assert.deepEqual(await byKey(), expected)
      await scene.store.mergeMinutes(start + 2 * hour)
      assert.deepEqual(await byKey(), expected)
      await scene.store.removeBefore(start + 2 * hour)
      assert.deepEqual(await byKey(), [])
    })

    it('keeps organizations apart', async () => {
      await using scene = await openScene(open)
      await scene.request({}, 'org_2')
      await scene.store.addNewEvents()
      assert.deepEqual(await scene.sums(), [])
      assert.deepEqual(await scene.sums('key'), [])
    })

    it('has the same sums after minutes became hours', async () => {
      await using scene = await openScene(open)
      for (let at = 0; at < 6; at++) {
        await scene.request({ latencyMs: 10 })
        scene.clock.passMs(25 * 60_000)
      }
      await scene.store.addNewEvents()
      const before = await scene.sums('decision', hour)
      await scene.store.mergeMinutes(start + 2 * hour)
      await scene.store.mergeMinutes(start + 2 * hour)
      assert.deepEqual(await scene.sums('decision', hour), before)
      assert.deepEqual(
        before.map(({ requests }) => requests),
        [3, 2, 1],
      )
      assert.equal((await scene.sums('decision', 60)).length, 3)
      await scene.store.removeBefore(start + hour)
      assert.equal((await scene.sums('decision', hour)).length, 2)
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
  const store = trafficStore(database)
  return {
    clock,
    store,
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
    sums: (groupBy?: TrafficGroup, step = hour, limit = 1_000) =>
      store.sums({ organizationId: 'org_1', from: start, to: start + 24 * hour, step, groupBy, limit }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
