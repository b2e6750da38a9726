import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { quotaStore } from '../../src/adapters/stores/sql/policies/quotas.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { defaultConfiguration, type Quota } from '../../src/domain/gateway-config/configuration.ts'
import { createQuotaReservations, type QuotaReservation } from '../../src/domain/gateway-config/quotas.ts'
import type { Engine } from '../support/engines.ts'
import { setClock } from '../support/audit-log.ts'
import { rejectsWith } from '../support/rejects-with.ts'

const dayMs = 24 * 60 * 60 * 1000
const requests = (count: number): Quota => ({ requests: count, tokens: 0, window: 'day' })
const tokens = (count: number): Quota => ({ requests: 0, tokens: count, window: 'day' })
const none = requests(0)
const holdMs = 900_000

type RequestOptions = {
  userId?: string
  user?: Quota
  project?: Quota
  /** Tokens of the input. The request asks for an answer of `output` tokens, and for no shorter one than `least`. */
  tokens?: number
  output?: number
  least?: number
  organizationId?: string
  projectId?: string
}

/** The contract of every quota store. */
export function quotaContract({ name, skip, open }: Engine): void {
  describe(`quotas: ${name}`, { skip }, () => {
    it('admits up to the number of requests, for each user separately', async () => {
      await using scene = await openScene(open)
      const ann = { userId: 'ann', user: requests(2) }
      await scene.take(ann)
      await scene.take(ann)
      await assert.rejects(scene.take(ann), rejectsWith('rate_limit_exceeded'))
      await scene.take({ ...ann, userId: 'bob' })
      await scene.take({ ...ann, organizationId: 'org_2' })
    })

    it('admits exactly the number of tokens', async () => {
      await using scene = await openScene(open)
      await assert.rejects(scene.take({ project: tokens(100), tokens: 101 }), rejectsWith('rate_limit_exceeded'))
      await scene.take({ project: tokens(100), tokens: 60 })
      await assert.rejects(scene.take({ project: tokens(100), tokens: 41 }), rejectsWith('rate_limit_exceeded'))
      await scene.take({ project: tokens(100), tokens: 40 })
      await scene.take({ project: tokens(100), tokens: 0 })
      await scene.take({ project: tokens(100), tokens: 60, projectId: 'proj_2' })
    })

    it('reserves in both quotas or in neither', async () => {
      await using scene = await openScene(open)
      const both = { userId: 'ann', user: requests(5), project: requests(1) }
      await scene.take(both)
      await assert.rejects(scene.take(both), rejectsWith('rate_limit_exceeded'))
      assert.deepEqual(await scene.used(), { user: [1, 0], project: [1, 0] })
    })

    it('corrects the tokens up or down to the actual usage, and keeps the request counted', async () => {
      await using scene = await openScene(open)
      const [less, more, unused] = [
        await scene.take({ project: tokens(100), tokens: 30 }),
        await scene.take({ project: tokens(100), tokens: 30 }),
        await scene.take({ project: tokens(100), tokens: 30 }),
      ]
      await less.settle(10)
      await less.settle(99) // only the first settlement counts
      await less[Symbol.asyncDispose]()
      assert.deepEqual(await scene.used(), { project: [3, 70] })
      await more.settle(95)
      await unused[Symbol.asyncDispose]()
      assert.deepEqual(await scene.used(), { project: [3, 105] })
      await assert.rejects(scene.take({ project: tokens(100) }), rejectsWith('rate_limit_exceeded'))
    })

    it('restarts with the next window, and corrects in the window of the reservation', async () => {
      await using scene = await openScene(open)
      const reservation = await scene.take({ project: { requests: 1, tokens: 50, window: 'day' }, tokens: 50 })
      scene.clock.passMs(dayMs)
      await scene.take({ project: { requests: 1, tokens: 50, window: 'day' }, tokens: 50 })
      await reservation.settle(0)
      await assert.rejects(scene.take({ project: tokens(50), tokens: 1 }), rejectsWith('rate_limit_exceeded'))
    })

    it('admits exactly ten of fifty concurrent requests on two nodes', async () => {
      await using scene = await openScene(open)
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, () =>
          scene.take({ userId: 'ann', user: requests(10), project: tokens(1_000), tokens: 7 }),
        ),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
      assert.deepEqual(await scene.used(), { user: [10, 70], project: [10, 70] })
    })

    it('reserves the tokens that an answer may use, so concurrent answers never share them', async () => {
      await using scene = await openScene(open)
      const request = { project: tokens(100), tokens: 10, output: 62, least: 1 }
      const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => scene.take(request)))
      const reservations = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      assert.deepEqual(
        reservations.map(({ maxOutputTokens }) => maxOutputTokens).toSorted((a, b) => a - b),
        [18, 62],
      )
      assert.deepEqual(await scene.used(), { project: [2, 100] })
      for (const reservation of reservations) await reservation.settle(10 + reservation.maxOutputTokens)
      assert.deepEqual(await scene.used(), { project: [2, 100] })
    })

    it('shortens an answer to the remainder of the tighter quota, and rejects it below the minimum', async () => {
      await using scene = await openScene(open)
      const request = { userId: 'ann', user: tokens(50), project: tokens(40), tokens: 10, output: 500, least: 16 }
      const first = await scene.take(request)
      assert.equal(first.maxOutputTokens, 30)
      await first.settle(15)
      await assert.rejects(scene.take(request), rejectsWith('rate_limit_exceeded')) // 25 are left, 26 are needed
      assert.equal((await scene.take({ ...request, tokens: 9 })).maxOutputTokens, 16)
      assert.deepEqual(await scene.used(), { user: [2, 40], project: [2, 40] })
    })

    it('does not shorten an answer if only requests are limited', async () => {
      await using scene = await openScene(open)
      const reservation = await scene.take({ project: requests(5), tokens: 10, output: 500 })
      assert.equal(reservation.maxOutputTokens, Infinity)
      await reservation.settle(70)
      assert.deepEqual(await scene.used(), { project: [1, 70] })
    })

    it('answers with a short retry delay while requests in flight hold the tokens', async () => {
      await using scene = await openScene(open)
      const request = { project: tokens(100), tokens: 10, output: 90 }
      const running = await scene.take(request)
      await assert.rejects(scene.take(request), { message: /requests in flight have reserved the rest/ })
      await running.settle(100)
      await assert.rejects(scene.take(request), {
        message: /does not suffice for this request until the day has ended\. Retry in \d+ seconds\./,
      })
    })

    it('releases the reservations of a dead process once, in every quota, after the maximum request time', async () => {
      await using scene = await openScene(open)
      const request = { userId: 'ann', user: tokens(100), project: tokens(200), tokens: 10, output: 50 }
      await scene.take(request)
      scene.clock.passMs(holdMs - 1)
      await scene.store.releaseExpired(scene.clock.nowMs())
      assert.deepEqual(await scene.used(), { user: [1, 60], project: [1, 60] })
      scene.clock.passMs(1)
      await Promise.all([1, 2].map(() => scene.store.releaseExpired(scene.clock.nowMs())))
      assert.deepEqual(await scene.used(), { user: [1, 0], project: [1, 0] })
    })

    it('counts the full usage of a request whose reservation had been released', async () => {
      await using scene = await openScene(open)
      const request = { userId: 'ann', user: tokens(100), project: tokens(200), tokens: 10, output: 50 }
      const slow = await scene.take(request)
      await scene.store.releaseExpired(scene.clock.nowMs() + holdMs)
      await slow.settle(33)
      assert.deepEqual(await scene.used(), { user: [1, 33], project: [1, 33] })
    })

    it('never counts a request twice if it is settled while its reservation is released', async () => {
      await using scene = await openScene(open)
      for (let round = 0; round < 10; round++) {
        const reservation = await scene.take({
          project: tokens(1_000),
          tokens: 10,
          output: 30,
          projectId: `proj_${round}`,
        })
        await Promise.all([reservation.settle(7), scene.store.releaseExpired(scene.clock.nowMs() + holdMs)])
      }
      assert.deepEqual(await scene.totals(), [10, 70])
    })

    it('accepts names of any length and script', async () => {
      await using scene = await openScene(open)
      for (const userId of ['', 'ü'.repeat(100_000), 'a\u0000b', '\ud800']) {
        await scene.take({ userId, user: requests(1) })
        await assert.rejects(scene.take({ userId, user: requests(1) }), rejectsWith('rate_limit_exceeded'))
      }
    })

    it('removes windows that ended, and no others', async () => {
      await using scene = await openScene(open)
      await scene.take({ project: requests(1) })
      const endMs = Math.ceil((scene.clock.nowMs() + 1) / dayMs) * dayMs
      await scene.store.removeEnded(endMs - 1)
      await assert.rejects(scene.take({ project: requests(1) }), rejectsWith('rate_limit_exceeded'))
      await scene.store.removeEnded(endMs)
      assert.deepEqual(await scene.used(), {})
    })
  })
}

/** Two organizations on one day. Requests alternate between two nodes. */
export async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  const clock = setClock()
  const store = quotaStore(database)
  const onSettleFailed = (error: unknown): never => assert.fail(String(error))
  const parts = { store, clock, ids: createIds(clock, systemRandom), holdMs, onSettleFailed }
  const nodes = [createQuotaReservations(parts), createQuotaReservations(parts)]
  let count = 0

  return {
    clock,
    store,
    async take(request: RequestOptions): Promise<QuotaReservation> {
      const { user = none, project = none, tokens: inputTokens = 0, output = 0, least = output, ...send } = request
      const controls = { user_quotas: true, user_quota: user, project_quota: project }
      const config = {
        ...defaultConfiguration,
        org_controls: { ...defaultConfiguration.org_controls, ...controls },
      }
      const node = nodes[count++ % 2]
      assert.ok(node)
      return node.take({
        organizationId: 'org_1',
        projectId: 'proj_1',
        userId: undefined,
        inputTokens,
        outputTokens: output,
        leastOutputTokens: least,
        version: 1,
        requestId: `req_${count}`,
        ...send,
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
    /** Requests and tokens of all subjects together. */
    async totals(): Promise<number[]> {
      const [row] = await database.read('select sum(requests) as requests, sum(tokens) as tokens from quota_use')
      return [Number(row?.['requests']), Number(row?.['tokens'])]
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
