import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { costStore } from '../../src/adapters/stores/sql/rollup/costs.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { trimRollup } from '../../src/adapters/stores/sql/rollup/trim.ts'
import type { CostDimension, CostFilter, CostQuery } from '../../src/domain/costs/costs.ts'
import type { Tags } from '../../src/domain/costs/tags.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import { costMicro } from '../../src/domain/credits/rates.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import { chargeOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const startMs = Date.UTC(2026, 0, 1)

/** `org_1` pays with credits, `org_2` does not. */
const organizations = ['org_1', 'org_2']

const charge = fc.record({
  organizationId: fc.constantFrom(...organizations),
  request: fc.nat(15),
  hour: fc.nat(24 * 20),
  projectId: fc.constantFrom<string>('proj_1', 'proj_2'),
  keyId: fc.constantFrom<string>('key_1', 'key_2'),
  model: fc.constantFrom<string>('gpt-a', 'gpt-b', 'claude'),
  userId: fc.constantFrom<string | undefined>('ada', 'bob', undefined),
  tags: fc.constantFrom<Tags | undefined>({ team: 'red' }, { team: 'blue', env: 'prod' }, { env: 'a=b,c%' }, undefined),
  outcome: fc.constantFrom('answered' as const, 'aborted' as const, 'broken_off' as const, 'orphaned' as const),
  inputTokens: fc.nat(2_000),
  rate: fc.constantFrom(3, 1_700),
  isFolded: fc.boolean(),
})

const dimensions: readonly CostDimension[] = ['project', 'key', 'model', 'user', 'tag:team', 'tag:env']
const filters = fc.record<CostFilter>(
  {
    projectIds: fc.constantFrom([], ['proj_1'], ['proj_1', 'proj_2']),
    keyIds: fc.constantFrom([], ['key_2']),
    models: fc.constantFrom([], ['claude'], ['gpt-*'], ['gpt-a', 'cl*']),
    users: fc.constantFrom([], ['ada'], ['ada', 'bob']),
    tags: fc.constantFrom<NonNullable<CostFilter['tags']>>(
      {},
      { team: ['red'] },
      { team: ['blue'], env: ['prod', 'x'] },
      { env: ['a=b,c%'], team: [] },
    ),
  },
  { requiredKeys: [] },
)
const query = fc.record({
  organizationId: fc.constantFrom(...organizations),
  hours: fc.tuple(fc.nat(24 * 21), fc.nat(24 * 21)),
  step: fc.constantFrom(undefined, 3_600, 86_400),
  groupBy: fc.uniqueArray(fc.constantFrom(...dimensions), { maxLength: 3 }),
  filter: filters,
})

type ChargeInput = typeof charge extends fc.Arbitrary<infer Input> ? Input : never

/** The contract of the sums of costs. */
export function costsContract({ name, skip, open }: Engine): void {
  describe(`costs: ${name}`, { skip }, () => {
    it('equal a naive sum of the charges for every period, grouping and filter, folded or not', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(charge, { minLength: 1, maxLength: 12 }),
          fc.array(query, { minLength: 1, maxLength: 12 }),
          async (charges, queries) => {
            await using scene = await openScene(open)
            for (const each of charges) await scene.settle(each)
            scene.clock.passMs(21 * dayMs)
            const wanted = queries.map(({ hours: [a, b], step, ...rest }): CostQuery => {
              const [from, to] = [a, b].toSorted((x, y) => x - y).map((hour) => startMs / 1000 + hour * 3_600)
              return { ...rest, from: from ?? 0, to: (to ?? 0) + 3_600, ...(step !== undefined && { step }) }
            })
            const check = async (): Promise<void> => {
              for (const each of wanted) assert.deepEqual(await scene.sums(each), scene.expected(each))
            }
            await check()
            while (!(await foldStoredDeltas(scene.database))) continue
            await check()
          },
        ),
        // Shrinking takes longer on PostgreSQL than a test may last.
        { numRuns: 15, endOnFailure: true },
      )
    })

    it('equal the ledger where credits are paid, with two prices and a repeated charge', async () => {
      await using scene = await openScene(open)
      const one = {
        organizationId: 'org_1',
        hour: 1,
        projectId: 'proj_1',
        keyId: 'key_1',
        model: 'claude',
        userId: 'ada',
        tags: { team: 'red' },
        outcome: 'answered',
        isFolded: false,
      } as const
      await scene.settle({ ...one, request: 1, inputTokens: 1_001, rate: 3 })
      await scene.settle({ ...one, request: 2, inputTokens: 1_001, rate: 1_700, isFolded: true })
      await scene.settle({ ...one, request: 2, inputTokens: 5_000, rate: 1_700, tags: { team: 'blue' } })
      await scene.settle({ ...one, request: 3, inputTokens: 7, rate: 3, organizationId: 'org_2' })
      const period = { from: startMs / 1000, to: startMs / 1000 + 86_400 }
      const inLedger = await scene.database.read<{ micro: number }>(
        `select cast(sum(micro) as bigint) as micro from charge where organization_id = 'org_1'`,
      )
      const [first, ...others] = await scene.sums({ ...period, organizationId: 'org_1', groupBy: ['tag:team'] })
      assert.deepEqual(others, [])
      assert.deepEqual(first?.slice(0, 3), [undefined, ['red'], 2])
      assert.equal(first?.at(-1), inLedger[0]?.micro)
      const [unmetered] = await scene.sums({ ...period, organizationId: 'org_2', groupBy: [] })
      assert.deepEqual(unmetered, [undefined, [], 1, 7, 0, 0, 0, 1])
    })

    it('are kept without a name when the names of end users expire', async () => {
      await using scene = await openScene(open)
      const one = {
        organizationId: 'org_2',
        projectId: 'proj_1',
        keyId: 'key_1',
        model: 'claude',
        tags: { team: 'red' },
        outcome: 'answered',
        inputTokens: 1,
        rate: 1_700,
        isFolded: true,
      } as const
      for (const [request, hour, userId] of [
        [1, 1, 'ada'],
        [2, 1, 'bob'],
        [3, 1, undefined],
        [4, 24 * 19, 'ada'],
      ] as const)
        await scene.settle({ ...one, request, hour, userId })
      scene.clock.passMs(41 * dayMs)
      const wanted = {
        organizationId: 'org_2',
        from: startMs / 1000,
        to: startMs / 1000 + 40 * 86_400,
        groupBy: ['user', 'tag:team'],
      } as const
      const expected = [
        [undefined, ['', 'red'], 3, 3, 0, 0, 0, 3],
        [undefined, ['ada', 'red'], 1, 1, 0, 0, 0, 1],
      ]
      assert.deepEqual(await scene.sums(wanted), expected)
      await trimRollup(scene.database, { nowSeconds: scene.clock.nowMs() / 1000, userDays: 30 })
      assert.deepEqual(await scene.sums(wanted), expected)
      const rows = await scene.database.read<{ user_id: string; requests: number }>(
        `select user_id, requests from rollup where kind = 'cost' and step = 86400 order by user_id`,
      )
      assert.deepEqual(
        rows.map((row) => [row.user_id, row.requests]),
        [
          ['', 3],
          ['ada', 1],
        ],
      )
      assert.deepEqual(await scene.sums({ ...wanted, filter: { users: ['bob'] } }), [])
    })

    it('of charges and deltas of earlier versions are what was charged', async () => {
      await using scene = await openScene(open)
      const { costMicro: _, tags: __, ...old } = chargeOf('req_old', 5, 'slice_org_1')
      await scene.ledger.settle(JSON.parse(JSON.stringify({ ...old, atMs: startMs })) as Charge)
      const entry = ['charge', startMs / 1000, ['proj_1', 'key_1', 'm', 'ada'], [1, 2, 0, 0, 3, 7]]
      await scene.database.write([
        {
          sql: `insert into rollup_delta (organization_id, id, delta) values ('org_1', 'x', $1)`,
          params: [JSON.stringify([entry])],
        },
      ])
      const wanted = { organizationId: 'org_1', from: startMs / 1000, to: startMs / 1000 + 3_600, groupBy: [] } as const
      const expected = [[undefined, [], 2, 7, 0, 0, 3, 12]]
      assert.deepEqual(await scene.sums(wanted), expected)
      while (!(await foldStoredDeltas(scene.database))) continue
      assert.deepEqual(await scene.sums(wanted), expected)
    })

    it('are kept of the longest names and tags that a request can have', async () => {
      await using scene = await openScene(open)
      // Engines compress texts that repeat themselves.
      const textOf = (length: number, seed: number): string =>
        String.fromCharCode(...Array.from({ length }, (_, at) => 0x4e00 + ((at * 7919 + seed * 104_729) % 20_000)))
      await scene.settle({
        organizationId: 'org_2',
        request: 1,
        hour: 1,
        projectId: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
        keyId: textOf(300, 1),
        model: textOf(300, 2),
        userId: textOf(300, 3),
        tags: { team: textOf(64, 4), env: textOf(64, 5), area: textOf(64, 6), app: textOf(15, 7) },
        outcome: 'answered',
        inputTokens: 1,
        rate: 3,
        isFolded: true,
      })
      const wanted = {
        organizationId: 'org_2',
        from: startMs / 1000,
        to: startMs / 1000 + 86_400,
        groupBy: ['tag:env'],
      } as const
      assert.deepEqual(await scene.sums(wanted), [[undefined, [textOf(64, 5)], 1, 1, 0, 0, 0, 1]])
      assert.deepEqual(await scene.database.read('select id from rollup_delta'), [])
    })

    it('are rejected if they have too many rows', async () => {
      await using scene = await openScene(open)
      const one = { organizationId: 'org_2', keyId: 'key_1', model: 'm', outcome: 'answered', inputTokens: 1 } as const
      for (const request of [1, 2, 3])
        await scene.settle({
          ...one,
          request,
          hour: 1,
          projectId: `proj_${request}`,
          userId: undefined,
          tags: undefined,
          rate: 3,
          isFolded: true,
        })
      const wanted = {
        organizationId: 'org_2',
        from: startMs / 1000,
        to: startMs / 1000 + 86_400,
        groupBy: ['project'],
      } as const
      assert.equal((await scene.sums({ ...wanted, maxRows: 3 })).length, 3)
      await assert.rejects(scene.sums({ ...wanted, maxRows: 2 }), { code: 'invalid_parameter' })
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const clock = setClock(startMs)
  await openAuditLog(database, clock, organizations)
  const ids = createIds(clock, systemRandom)
  const ledger = ledgerStore(database, { ids, clock })
  const grant = { organizationId: 'org_1', kind: 'grant', ref: 'start', micro: 1_000_000, note: '' } as const
  await database.transaction((tx) => grantStore(tx, { ids, clock, engine: database.engine }).grant(grant))
  const slice = { id: 'slice_org_1', organizationId: 'org_1', holder: 'node', epoch: 'life' } as const
  await ledger.openSlice(slice, { leastMicro: 100, wantedMicro: 100_000 })
  const store = costStore((sql, params) => database.report(sql, params), { clock, userDays: 30 })
  const settled = new Map<string, Charge>()
  return {
    database,
    clock,
    ledger,
    async settle({ request, hour, inputTokens, rate, isFolded, ...input }: ChargeInput) {
      const isMetered = input.organizationId === 'org_1'
      const plain = chargeOf(`${input.organizationId} ${request}`, 0, isMetered ? 'slice_org_1' : null)
      const usage = { ...plain.usage, inputTokens }
      const rates = { input: rate, cacheRead: 0, cacheWrite: 0, output: 0, version: String(rate) }
      const cost = input.outcome === 'answered' || input.outcome === 'aborted' ? costMicro(usage, rates) : 0
      const micro = isMetered ? cost : 0
      const each = { ...plain, ...input, usage, rates, micro, costMicro: cost, atMs: startMs + hour * hourMs }
      const { isFirst } = await ledger.settle(each)
      assert.equal(isFirst, !settled.has(each.requestId))
      if (isFirst) settled.set(each.requestId, each)
      if (isFolded) await foldStoredDeltas(database)
    },
    async sums(wanted: CostQuery) {
      const sums = await store.sums(wanted)
      return sums
        .map((sum) => [
          sum.startTime,
          [...sum.group],
          sum.requests,
          sum.inputTokens,
          sum.cacheReadTokens,
          sum.cacheWriteTokens,
          sum.outputTokens,
          sum.costMicro,
        ])
        .toSorted(byText)
    },
    expected: (wanted: CostQuery) => naiveSums([...settled.values()], wanted),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

/** Sums of the charges themselves, without any of the code that is tested. */
function naiveSums(charges: readonly Charge[], { organizationId, from, to, step, groupBy, filter = {} }: CostQuery) {
  const isIn = (values: readonly string[] | undefined, value: string): boolean =>
    values === undefined || values.length === 0 || values.includes(value)
  const models = ['gpt-a', 'gpt-b', 'claude'].filter((model) =>
    filter.models?.some(
      (wanted) => (wanted.endsWith('*') ? model.slice(0, wanted.length - 1) + '*' : model) === wanted,
    ),
  )
  const counted = charges.filter(
    (each) =>
      each.organizationId === organizationId &&
      each.outcome !== 'orphaned' &&
      from * 1000 <= each.atMs &&
      each.atMs < to * 1000 &&
      isIn(filter.projectIds, each.projectId) &&
      isIn(filter.keyIds, each.keyId) &&
      isIn(filter.users, each.userId ?? '') &&
      (filter.models === undefined || filter.models.length === 0 || models.includes(each.model)) &&
      Object.entries(filter.tags ?? {}).every(([name, values]) => isIn(values, each.tags?.[name] ?? '')),
  )
  const valueOf = (each: Charge, by: CostDimension): string => {
    if (by.startsWith('tag:')) return each.tags?.[by.slice(4)] ?? ''
    return (
      { project: each.projectId, key: each.keyId, model: each.model, user: each.userId ?? '' }[by as 'project'] ?? ''
    )
  }
  const groups = Map.groupBy(counted, (each) =>
    JSON.stringify([
      step === undefined ? undefined : Math.floor(each.atMs / 1000 / step) * step,
      groupBy.map((by) => valueOf(each, by)),
    ]),
  )
  return [...groups]
    .map(([key, own]) => {
      const [startTime, group] = JSON.parse(key) as [number | null, string[]]
      const sum = (of: (each: Charge) => number) => own.reduce((total, each) => total + of(each), 0)
      return [
        startTime ?? undefined,
        group,
        own.length,
        sum(({ usage }) => usage.inputTokens),
        0,
        0,
        0,
        sum(({ costMicro: cost = 0 }) => cost),
      ]
    })
    .toSorted(byText)
}
