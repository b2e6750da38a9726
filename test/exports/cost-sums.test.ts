import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { costStore } from '../../src/adapters/stores/sql/rollup/costs.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { exactUsd } from '../../src/domain/costs/exact-usd.ts'
import { inMicroUsd } from '../../src/domain/costs/report.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import { costMicro } from '../../src/domain/credits/rates.ts'
import { costFileKey, creditUsd, openCostFileScene } from '../support/cost-file-scene.ts'
import { chargeOf } from '../support/credits.ts'
import { engines } from '../support/engines.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
const requests = 10_000
const days = 4
const slice = { id: 'slice_1', organizationId: 'org_1', holder: 'node', epoch: 'life' } as const
/** Digits behind the point of an exact amount. */
const places = 9

describe('sums of costs', () => {
  it('are equal in the files, in the report and in the ledger after 10,000 requests', async (t) => {
    const [sqlite] = engines
    await using database = await (sqlite ?? assert.fail()).open()
    const scene = await openCostFileScene(t, database)
    const { clock, ledger } = scene
    const grants = <T>(work: (store: ReturnType<typeof grantStore>) => Promise<T>): Promise<T> =>
      database.transaction((tx) =>
        work(grantStore(tx, { ids: createIds(clock, systemRandom), clock, engine: database.engine })),
      )
    const micro = 4_000_000_000_000
    await grants((store) => store.grant({ organizationId: 'org_1', kind: 'grant', ref: 'start', micro, note: '' }))
    await ledger.openSlice(slice, { leastMicro: 1, wantedMicro: micro / 2 })
    await scene.addCostSink()
    const writer = scene.writer('this')
    const random = seeded(7)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T

    const made = Array.from({ length: requests }, (_, at): Charge => {
      // The price changes in the middle.
      const price = at < requests / 2 ? 2_999_999 : 17_000_001
      const rates = { input: price, cacheRead: 7, cacheWrite: 3_750_000, output: price * 5, version: String(price) }
      const counts = [0, 0, 0, 0].map(() => Math.floor(random() * 3_000))
      const [inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0] = counts
      const usage = { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, source: 'reported' } as const
      const outcome = pick(['answered', 'answered', 'answered', 'aborted', 'broken_off', 'orphaned'] as const)
      const cost = outcome === 'answered' || outcome === 'aborted' ? costMicro(usage, rates) : 0
      return {
        ...chargeOf(`req_${at}`, cost, slice.id),
        projectId: pick(['proj_1', 'proj_2', 'proj_3']),
        keyId: pick(['key_1', 'key_2', 'key_3', 'key_4']),
        model: pick(['claude', 'gpt', '=model']),
        userId: pick(['ada', 'bob', undefined]),
        tags: pick([undefined, { team: 'red' }, { team: 'blue', env: 'a,b="c"' }]),
        atMs: startMs + Math.floor(random() * days * dayMs),
        outcome,
        usage,
        rates,
        costMicro: cost,
      }
    })
    /** Charges that a node kept on its disk during an outage. */
    const isLate = (at: number): boolean => at % 10 === 3
    const write = async (charges: readonly Charge[]): Promise<void> => {
      await Promise.all(charges.map((charge) => ledger.settle(charge)))
      await foldStoredDeltas(database)
    }
    clock.setMs(startMs + (days + 1) * dayMs)
    const inTime = made.filter((_, at) => !isLate(at))
    await write(inTime.slice(0, inTime.length / 2))
    await grants((store) =>
      store.correct({ organizationId: 'org_1', ref: 'typo', micro: 123_456_789, note: 'too much' }),
    )
    await write(inTime.slice(inTime.length / 2))
    await writer.writeDue()
    await write(made.filter((_, at) => isLate(at)))
    await write(made.filter((_, at) => at % 7 === 0)) // written before
    clock.passMs(600_000)
    await writer.writeDue()
    assert.deepEqual(scene.errors, [])
    assert.equal(scene.receiver.requests.length, 2 * days)

    const costs = costStore((sql, params) => database.report(sql, params), { clock, userDays: 30 })
    for (let day = 0; day < days; day++) {
      const fromMs = startMs + day * dayMs
      const rows = scene.rows(costFileKey(new Date(fromMs).toISOString().slice(0, 10)))
      assert.ok(rows.length > 50)
      const period = { from: fromMs / 1000, to: (fromMs + dayMs) / 1000 }
      const [report] = await costs.sums({ organizationId: 'org_1', ...period, groupBy: [] })
      const [charged] = await database.read<{ micro: number; requests: number }>(
        `select cast(sum(micro) as bigint) as micro, count(*) as requests from charge
         where at >= $1 and at < $2 and outcome <> 'orphaned'`,
        [fromMs, fromMs + dayMs],
      )
      const expected = made.filter(
        ({ atMs, outcome }) => Math.floor((atMs - startMs) / dayMs) === day && outcome !== 'orphaned',
      )
      const ofCharges = expected.reduce((sum, each) => sum + each.micro, 0)
      const inFile = rows.reduce((sum, row) => sum + unitsOf(row['BilledCost'] ?? ''), 0n)
      assert.deepEqual([charged?.micro, report?.costMicro], [ofCharges, ofCharges])
      assert.equal(inFile, unitsOf(exactUsd(ofCharges, creditUsd)))
      assert.equal(Number(inFile) / 1000, ofCharges * creditUsd)
      assert.equal(Math.round(Number(inFile) / 1000), inMicroUsd(report?.costMicro ?? 0, creditUsd))
      const requestsInFile = rows.reduce((sum, row) => sum + Number(row['x_Requests']), 0)
      assert.deepEqual([requestsInFile, charged?.requests], [expected.length, expected.length])
      const tokens = rows.reduce((sum, row) => sum + Number(row['ConsumedQuantity']), 0)
      const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = report ?? {}
      assert.equal(tokens, inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens)
    }
    assert.equal(await ledger.drift('org_1'), 0)
  })
})

/** An exact amount in billionths of a dollar. */
function unitsOf(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.')
  assert.ok(fraction.length <= places, usd)
  return BigInt(whole + fraction.padEnd(places, '0'))
}

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
