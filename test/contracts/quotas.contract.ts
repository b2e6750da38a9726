import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { quotaStore } from '../../src/adapters/stores/sql/gateway/quotas.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { defaultConfiguration, type Quota } from '../../src/domain/gateway/configuration.ts'
import { createQuotas, type QuotaPlace } from '../../src/domain/gateway/quotas.ts'
import type { Engine } from '../support/engines.ts'
import { setClock } from '../support/audit-log.ts'
import { refusesWith } from '../support/refusal.ts'

const dayMs = 24 * 60 * 60 * 1000
const requests = (count: number): Quota => ({ requests: count, tokens: 0, window: 'day' })
const tokens = (count: number): Quota => ({ requests: 0, tokens: count, window: 'day' })
const none = requests(0)

type Ask = {
  userId?: string
  user?: Quota
  project?: Quota
  tokens?: number
  organizationId?: string
  projectId?: string
}

/** Every store of quotas must pass these. */
export function quotaContract({ name, skip, open }: Engine): void {
  describe(`quotas: ${name}`, { skip }, () => {
    it('admits up to the number of requests, for each user on their own', async () => {
      await using scene = await openScene(open)
      const ann = { userId: 'ann', user: requests(2) }
      await scene.take(ann)
      await scene.take(ann)
      await assert.rejects(scene.take(ann), refusesWith('rate_limit_exceeded'))
      await scene.take({ ...ann, userId: 'bob' })
      await scene.take({ ...ann, organizationId: 'org_2' })
    })

    it('admits tokens up to the last one and not one more', async () => {
      await using scene = await openScene(open)
      await assert.rejects(scene.take({ project: tokens(100), tokens: 101 }), refusesWith('rate_limit_exceeded'))
      await scene.take({ project: tokens(100), tokens: 60 })
      await assert.rejects(scene.take({ project: tokens(100), tokens: 41 }), refusesWith('rate_limit_exceeded'))
      await scene.take({ project: tokens(100), tokens: 40 })
      await scene.take({ project: tokens(100), tokens: 0 })
      await scene.take({ project: tokens(100), tokens: 60, projectId: 'proj_2' })
    })

    it('takes of both quotas or of neither', async () => {
      await using scene = await openScene(open)
      const both = { userId: 'ann', user: requests(5), project: requests(1) }
      await scene.take(both)
      await assert.rejects(scene.take(both), refusesWith('rate_limit_exceeded'))
      assert.deepEqual(await scene.used(), { user: [1, 0], project: [1, 0] })
    })

    it('corrects the tokens to what was used, whichever way, and leaves the request counted', async () => {
      await using scene = await openScene(open)
      const [less, more, unused] = [
        await scene.take({ project: tokens(100), tokens: 30 }),
        await scene.take({ project: tokens(100), tokens: 30 }),
        await scene.take({ project: tokens(100), tokens: 30 }),
      ]
      await less.settle(10)
      await less.settle(99) // the first word counts
      await less[Symbol.asyncDispose]()
      assert.deepEqual(await scene.used(), { project: [3, 70] })
      await more.settle(95)
      await unused[Symbol.asyncDispose]()
      assert.deepEqual(await scene.used(), { project: [3, 105] })
      await assert.rejects(scene.take({ project: tokens(100) }), refusesWith('rate_limit_exceeded'))
    })

    it('starts anew with the next window, and corrects in the one that was taken from', async () => {
      await using scene = await openScene(open)
      const place = await scene.take({ project: { requests: 1, tokens: 50, window: 'day' }, tokens: 50 })
      scene.clock.passMs(dayMs)
      await scene.take({ project: { requests: 1, tokens: 50, window: 'day' }, tokens: 50 })
      await place.settle(0)
      await assert.rejects(scene.take({ project: tokens(50), tokens: 1 }), refusesWith('rate_limit_exceeded'))
    })

    it('admits exactly ten of fifty that come together, on two nodes', async () => {
      await using scene = await openScene(open)
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, () =>
          scene.take({ userId: 'ann', user: requests(10), project: tokens(1_000), tokens: 7 }),
        ),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
      assert.deepEqual(await scene.used(), { user: [10, 70], project: [10, 70] })
    })

    it('takes names of any length and kind', async () => {
      await using scene = await openScene(open)
      for (const userId of ['', 'ü'.repeat(100_000), 'a\u0000b', '\ud800']) {
        await scene.take({ userId, user: requests(1) })
        await assert.rejects(scene.take({ userId, user: requests(1) }), refusesWith('rate_limit_exceeded'))
      }
    })

    it('forgets windows that ended, and no others', async () => {
      await using scene = await openScene(open)
      await scene.take({ project: requests(1) })
      const endMs = Math.ceil((scene.clock.nowMs() + 1) / dayMs) * dayMs
      await scene.store.removeEnded(endMs - 1)
      await assert.rejects(scene.take({ project: requests(1) }), refusesWith('rate_limit_exceeded'))
      await scene.store.removeEnded(endMs)
      assert.deepEqual(await scene.used(), {})
    })
  })
}

/** Two organizations and a day. Every other request goes to another node. */
export async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  const clock = setClock()
  const store = quotaStore(database)
  const onSettleFailed = (error: unknown): never => assert.fail(String(error))
  const parts = { store, clock, ids: createIds(clock, systemRandom), onSettleFailed }
  const nodes = [createQuotas(parts), createQuotas(parts)]
  let asked = 0

  return {
    clock,
    store,
    async take({ user = none, project = none, ...ask }: Ask): Promise<QuotaPlace> {
      const controls = { user_quotas: true, user_quota: user, project_quota: project }
      const config = {
        ...defaultConfiguration,
        org_controls: { ...defaultConfiguration.org_controls, ...controls },
      }
      const node = nodes[asked++ % 2]
      assert.ok(node)
      return node.take({
        organizationId: 'org_1',
        projectId: 'proj_1',
        userId: undefined,
        tokens: 0,
        version: 1,
        requestId: `req_${asked}`,
        ...ask,
        config,
      })
    },
    /** Requests and tokens of the first organization, by kind of subject. */
    async used(): Promise<Record<string, [number, number]>> {
      const rows = await database.read<{ subject_kind: string; requests: number; tokens: number }>(
        `select subject_kind, requests, tokens from quota_use where organization_id = 'org_1'`,
      )
      return Object.fromEntries(rows.map((row) => [row.subject_kind, [row.requests, row.tokens]]))
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
