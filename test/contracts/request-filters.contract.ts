import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditReads } from '../../src/adapters/stores/sql/audit/events.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { trafficStore } from '../../src/adapters/stores/sql/rollup/traffic.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { trimRollup } from '../../src/adapters/stores/sql/rollup/trim.ts'
import { minuteMs } from '../../src/base/clock.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import type { RequestField, RequestFilter, RequestValues } from '../../src/domain/audit/log.ts'
import { countRequests } from '../../src/domain/overview/count-requests.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const startMs = Date.UTC(2026, 0, 1)
const limits = { slice: 7, most: 21 }

/** Filters, searches and counts of requests, on every engine. */
export function requestFiltersContract({ name, skip, open }: Engine): void {
  describe(`filters of requests: ${name}`, { skip }, () => {
    it('with a value and without it share all requests between them, for every field', async () => {
      await using scene = await openScene(open)
      await scene.append(100)
      const all = await scene.all({})
      assert.equal(all.length, 100)
      for (const [field, values] of Object.entries(valuesOf)) {
        for (const chosen of [values.slice(0, 1), values.slice(0, 2), ['nothing has this']]) {
          const matching = await scene.all({ is: { [field]: chosen } })
          const others = await scene.all({ isNot: { [field]: chosen } })
          assert.deepEqual([...matching, ...others].toSorted(), all.toSorted(), `${field} ${chosen.join(' ')}`)
        }
        const [first = '', second = ''] = values
        const each = [await scene.all({ is: { [field]: [first] } }), await scene.all({ is: { [field]: [second] } })]
        assert.ok(
          each.every((ids) => ids.length > 0),
          field,
        )
        const either = await scene.all({ is: { [field]: [first, second] } })
        assert.deepEqual(either.toSorted(), each.flat().toSorted(), field)
      }
    })

    it('apply all at once', async () => {
      await using scene = await openScene(open)
      await scene.append(100)
      const is: RequestValues = { model: ['gpt-5-mini', 'other'], decision: ['allow'] }
      const found = await scene.all({ is, isNot: { userId: ['ada'] } })
      const sets = await Promise.all([
        scene.all({ is: { model: ['gpt-5-mini', 'other'] } }),
        scene.all({ is: { decision: ['allow'] } }),
        scene.all({ isNot: { userId: ['ada'] } }),
      ])
      assert.ok(found.length > 0)
      assert.deepEqual(
        found,
        sets[0].filter((id) => sets[1].includes(id) && sets[2].includes(id)),
      )
    })

    it('find models by the start of the name, in its case', async () => {
      await using scene = await openScene(open)
      await scene.append(20)
      const starting = await scene.all({ is: { model: ['gpt*'] } })
      const whole = await scene.all({ is: { model: ['gpt-5', 'gpt-5-mini'] } })
      assert.ok(whole.length > 0)
      assert.deepEqual(starting, whole)
      assert.deepEqual(await scene.all({ is: { model: ['GPT*'] } }), [])
      assert.equal((await scene.all({ isNot: { model: ['gpt*'] } })).length, 20 - whole.length)
      assert.equal((await scene.all({ is: { model: ['*'] } })).length, 20)
    })

    it('find a text in every field in any case, and names by the ids that are given', async () => {
      await using scene = await openScene(open)
      await scene.append(60)
      const search = (text: string, ids = {}): Promise<string[]> =>
        scene.all({ search: { text, projectIds: [], policyIds: [], actorIds: [], ...ids } })
      assert.deepEqual(await search('PT-5-MI'), await scene.all({ is: { model: ['gpt-5-mini'] } }))
      assert.deepEqual(await search('Ada'), await scene.all({ is: { userId: ['ada'] } }))
      assert.deepEqual(await search('upstream_time'), await scene.all({ is: { errorCode: ['upstream_timeout'] } }))
      assert.deepEqual(await search('r_pii'), await scene.all({ is: { reasonCode: ['R_PII'] } }))
      assert.deepEqual(await search('REQ_7'), ['e7'])
      assert.deepEqual(await search('e42'), ['e42'])
      assert.deepEqual(await search('%'), [])
      assert.deepEqual(await search('req_1_'), [])
      assert.deepEqual(
        await search('no field', { projectIds: ['proj_1', 'proj_3'] }),
        await scene.all({ is: { projectId: ['proj_1', 'proj_3'] } }),
      )
      assert.deepEqual(
        await search('no field', { policyIds: ['pol_1'], actorIds: ['key_1'] }),
        (await scene.all({})).filter((id) => Number(id.slice(1)) % 5 === 1 || Number(id.slice(1)) % 3 === 1),
      )
    })

    it('read the log in slices: pages may be short, and together they have every request once', async () => {
      await using scene = await openScene(open)
      await scene.append(100)
      const filter = { isNot: { model: ['gpt-5', 'gpt-5-mini', 'other'] } }
      const wanted = Array.from({ length: 100 }, (_, at) => at).filter((at) => at % 4 === 3)
      for (const order of ['desc', 'asc'] as const) {
        for (const limit of [1, 4, 100]) {
          const { ids, sizes } = await scene.pages(filter, { order, limit })
          const expected = wanted.map((at) => `e${at}`)
          assert.deepEqual(ids, order === 'asc' ? expected : expected.toReversed())
          assert.ok(sizes.every((size) => size <= limit))
        }
      }
      const rare = await scene.pages({ search: { text: 'req_3', ...noIds } }, { order: 'desc', limit: 50 })
      assert.deepEqual(rare.ids, ['e39', 'e38', 'e37', 'e36', 'e35', 'e34', 'e33', 'e32', 'e31', 'e30', 'e3'])
      assert.ok(rare.sizes.includes(0), 'a page without a match leads on')
      assert.ok(rare.sizes.length >= 4)
    })

    it('walk only the period', async () => {
      await using scene = await openScene(open)
      await scene.append(100)
      const period = { fromMs: startMs + 40 * minuteMs, toMs: startMs + 44 * minuteMs }
      const { ids, sizes } = await scene.pages(
        { ...period, isNot: { userId: ['nobody'] } },
        { order: 'desc', limit: 50 },
      )
      assert.deepEqual([ids, sizes], [['e43', 'e42', 'e41', 'e40'], [4]])
    })

    it('count requests up to a number, and say if there may be more', async () => {
      await using scene = await openScene(open)
      await scene.append(20)
      const count = (filter: RequestFilter, most: number) => scene.reads.countRequests('org_1', filter, most)
      assert.deepEqual(await count({}, 20), { count: 20, isExact: true })
      assert.deepEqual(await count({}, 19), { count: 19, isExact: false })
      assert.deepEqual(await count({ is: { userId: ['ada'] } }, 20), { count: 10, isExact: true })
      assert.deepEqual(await count({ isNot: { userId: ['ada'] } }, 20), { count: 10, isExact: true })
      assert.deepEqual(await count({ isNot: { userId: ['ada'] } }, 3), { count: 3, isExact: false })
      await scene.append(20, 20)
      assert.deepEqual(await count({ is: { status: ['error'] } }, 20), { count: 11, isExact: false })
      assert.deepEqual(await count({ toMs: 1, is: { status: ['error'] } }, 20), { count: 0, isExact: true })
    })

    it('count more than that exactly by the sums, whatever the ends of the period', async () => {
      await using scene = await openScene(open)
      await scene.append(100)
      await foldStoredDeltas(scene.database)
      await scene.append(20, 100)
      const parts = { events: scene.reads, traffic: trafficStore(scene.database, scene.log.clock), most: 5 }
      const fields: RequestFilter[] = [
        {},
        { is: { model: ['gpt-5', 'other'] } },
        { is: { status: ['ok'] }, isNot: { projectId: ['proj_1'] } },
        { isNot: { decision: ['allow'] } },
      ]
      const ends = [
        {},
        { fromMs: startMs + 90_500 },
        { fromMs: startMs + 15_000, toMs: startMs + 80 * minuteMs + 1_000 },
        { toMs: startMs + 119 * minuteMs },
      ]
      for (const field of fields)
        for (const period of ends) {
          const filter = { ...field, ...period }
          const found = await countRequests({ ...parts, clock: scene.log.clock }, 'org_1', filter)
          const listed = await scene.all(filter)
          assert.deepEqual(found, { count: listed.length, isExact: true }, JSON.stringify(filter))
        }
    })

    it('count requests that are older than the sums, and those of a log whose start was removed', async () => {
      await using scene = await openScene(open)
      await scene.append(20)
      await foldStoredDeltas(scene.database)
      const { clock } = scene.log
      const parts = { events: scene.reads, traffic: trafficStore(scene.database, clock), clock }
      const trimmed = {
        ...parts,
        events: {
          ...scene.reads,
          firstRequest: async () => ({ timeMs: startMs + 10 * minuteMs, isTrimmed: true }),
        },
      }
      // The sums have ten requests that such a log no longer has.
      assert.deepEqual(await countRequests(trimmed, 'org_1', { fromMs: startMs + 10 * minuteMs }), {
        count: 10,
        isExact: true,
      })
      clock.passMs(1_200 * 24 * 60 * minuteMs)
      await trimRollup(scene.database, { nowSeconds: clock.nowMs() / 1000, userDays: 1_200 })
      assert.deepEqual(await countRequests(parts, 'org_1', {}), { count: 20, isExact: true })
    })

    it('tell apart models whose names begin with the same 200 characters', async () => {
      await using scene = await openScene(open)
      const model = 'm'.repeat(200)
      await scene.log.append(1, { model: { provider: 'p', name: model } })
      await scene.log.append(2, { model: { provider: 'p', name: `${model}-other` } })
      scene.log.clock.passMs(5 * 24 * 60 * minuteMs)
      await foldStoredDeltas(scene.database)
      const { clock } = scene.log
      const parts = { events: scene.reads, traffic: trafficStore(scene.database, clock), clock }
      for (const filter of [{ is: { model: [model] } }, { isNot: { model: [`${model}-other`] } }])
        assert.deepEqual(await countRequests(parts, 'org_1', filter), { count: 1, isExact: true })
    })

    it('are counted although the oldest event is damaged', async () => {
      await using scene = await openScene(open)
      await scene.append(20)
      await scene.database.write([{ sql: `update audit_event set body = '{' where sequence = 1` }])
      const { clock } = scene.log
      const parts = { events: scene.reads, traffic: trafficStore(scene.database, clock), clock }
      assert.deepEqual(await countRequests(parts, 'org_1', {}), { count: 20, isExact: true })
    })

    it('count by the events where the sums do not have the field', async () => {
      await using scene = await openScene(open)
      await scene.append(40)
      const { clock } = scene.log
      const parts = { events: scene.reads, traffic: trafficStore(scene.database, clock), clock, most: 5 }
      for (const filter of [{ is: { userId: ['ada'] } }, { is: { model: ['gpt*'] } }, { minMs: 0 }])
        assert.deepEqual(await countRequests(parts, 'org_1', filter), { count: 5, isExact: false })
    })
  })
}

const noIds = { projectIds: [], policyIds: [], actorIds: [] }

/** Values that some of the events have. */
const valuesOf: Readonly<Record<RequestField, readonly string[]>> = {
  decision: ['allow', 'refuse'],
  status: ['ok', 'error'],
  model: ['gpt-5', 'gpt-5-mini'],
  projectId: ['proj_1', 'proj_2'],
  policyId: ['pol_1', 'pol_2'],
  actorId: ['key_1', 'key_2'],
  userId: ['ada', 'ben'],
  reasonCode: ['R_PII', 'R_TERM'],
  errorCode: ['upstream_timeout', 'rate_limit_exceeded'],
  category: ['hate', 'violence'],
}

const models = ['gpt-5', 'gpt-5-mini', 'other', 'Ünïcode'] as const

/** Each field has its own period, and is missing in some events. */
function factsOf(at: number): Partial<EventFacts> {
  const isDenied = at % 5 === 1 || at % 5 === 2
  const failure = [undefined, 'upstream_timeout', undefined, 'rate_limit_exceeded'][at % 4]
  return {
    timeMs: startMs + at * minuteMs,
    requestId: `req_${at}`,
    projectId: [undefined, 'proj_1', 'proj_2', 'proj_3'][at % 4],
    actor: { credentialId: [undefined, 'key_1', 'key_2'][at % 3], userId: ['ada', 'ben', undefined, 'ada'][at % 4] },
    verdict: {
      decision: isDenied ? 'refuse' : 'allow',
      isEnforced: at % 2 === 0,
      ...(isDenied && { policy: { id: at % 5 === 1 ? 'pol_1' : 'pol_2' } }),
      reasonCode: [undefined, 'R_PII', 'R_TERM'][at % 3],
      categoriesTriggered: [[], ['hate'], ['violence'], []][at % 4] ?? [],
    },
    model: { provider: 'p', name: models[at % 4] ?? '' },
    ...(failure !== undefined && { failure: { code: failure } }),
    call: { method: 'POST', path: '/v1/messages', address: '127.0.0.1', status: 200, latencyMs: at },
  }
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const log = await openAuditLog(database, setClock(startMs))
  const table = { isPartitioned: database.engine === 'postgres', walk: limits }
  const reads = auditReads({ query: (sql, params) => database.read(sql, params) }, table)
  type Order = { readonly order: 'asc' | 'desc'; readonly limit: number }
  async function pages(filter: RequestFilter, { order, limit }: Order) {
    const ids: string[] = []
    const sizes: number[] = []
    for (let after: string | undefined; ;) {
      const page = await reads.listRequests('org_1', filter, { order, limit, ...(after !== undefined && { after }) })
      ids.push(...page.items.map(({ id }) => id))
      sizes.push(page.items.length)
      if (!page.hasMore) return { ids, sizes }
      after = page.nextAfter ?? page.items.at(-1)?.id
      assert.ok(after !== undefined)
    }
  }
  return {
    database,
    log,
    reads,
    pages,
    append: async (count: number, from = 0) => {
      const facts = Array.from({ length: count }, (_, at) => from + at)
      log.clock.setMs(startMs + (from + count) * minuteMs)
      await log.appender.append(
        'org_1',
        facts.map((at) =>
          log.events.makeEvent(
            { code: 'gateway.request.decided', organizationId: 'org_1', message: 'm', timeMs: 0, ...factsOf(at) },
            `e${at}`,
          ),
        ),
      )
    },
    all: async (filter: RequestFilter) => (await pages(filter, { order: 'desc', limit: 100 })).ids,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
