import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { isFault } from '../../src/base/fault.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import type { NewGrant, NewSlice } from '../../src/domain/credits/ledger-store.ts'
import { chargeOf, organizationOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'
import { createHandClock } from '../support/hand-clock.ts'

/** The contract of every ledger. */
export function ledgerContract({ name, skip, open }: Engine): void {
  describe(`ledger: ${name}`, { skip }, () => {
    it('grants once for each reference and kind, even if the grant is repeated', async () => {
      await using scene = await openScene(open)
      assert.equal(await scene.grant(1_000), true)
      assert.equal(await scene.grant(1_000), false)
      assert.equal(await scene.grant(5, { kind: 'payment' }), true)
      assert.equal(await scene.grant(7, { organizationId: 'org_2' }), true)
      assert.deepEqual(await scene.balance(), [1_005, 1_005, 0, 0])
      assert.deepEqual(await scene.balance('org_2'), [7, 7, 0, 0])
    })

    it('rejects a grant beyond the range of exact numbers as a whole', async () => {
      await using scene = await openScene(open)
      await scene.grant(Number.MAX_SAFE_INTEGER - 10)
      await assert.rejects(scene.grant(11, { ref: 'too much' }), isFault)
      assert.equal(await scene.grant(10, { ref: 'just enough' }), true)
      assert.equal((await scene.balance())[0], Number.MAX_SAFE_INTEGER)
    })

    it('takes granted credits back once for each reference, and says what is left outside of slices', async () => {
      await using scene = await openScene(open)
      await scene.grant(1_000)
      await scene.open('slice_1', 100)
      assert.deepEqual(await scene.correct(300, 'typo'), { isNew: true, availableMicro: 550 })
      assert.deepEqual(await scene.correct(300, 'typo'), { isNew: false, availableMicro: 550 })
      assert.deepEqual(await scene.balance(), [700, 550, 150, 0])
    })

    it('opens a slice with the requested amount and a twentieth of the balance, once for each epoch', async () => {
      await using scene = await openScene(open)
      await scene.grant(1_000)
      const opened = await scene.open('slice_1', 100)
      const slice = { ...scene.slice('slice_1'), amountMicro: 150 }
      assert.deepEqual(opened, { result: 'opened', slice })
      assert.deepEqual(await scene.open('slice_2', 1), { result: 'exists', slice })
      assert.equal((await scene.open('slice_3', 1, { epoch: 'another life' })).result, 'opened')
      assert.deepEqual(await scene.balance(), [1_000, 850 - 43, 193, 0])
    })

    it('opens a slice with the available credits if they cover the minimum', async () => {
      await using scene = await openScene(open)
      await scene.grant(40)
      assert.deepEqual(await scene.open('slice_1', 41), { result: 'insufficient', availableMicro: 40 })
      const amounts = { leastMicro: 30, wantedMicro: 500 }
      assert.equal((await scene.ledger.openSlice(scene.newSlice('slice_1'), amounts)).result, 'opened')
      const raised = await scene.ledger.topUpSlice('slice_1', { leastMicro: 1, wantedMicro: 1 })
      assert.deepEqual(raised.result === 'topped-up' && [raised.slice.amountMicro, raised.takenMicro], [40, 0])
      await scene.grant(10, { ref: 'more' })
      const again = await scene.ledger.topUpSlice('slice_1', { leastMicro: 4, wantedMicro: 4 })
      assert.deepEqual(again.result === 'topped-up' && [again.slice.amountMicro, again.takenMicro], [44, 4])
      assert.deepEqual(await scene.balance(), [50, 6, 44, 0])
    })

    it('opens an empty slice if no amount is requested, but none while there is a debt', async () => {
      await using scene = await openScene(open)
      assert.equal((await scene.open('slice_1', 0)).result, 'opened')
      await scene.ledger.settle(scene.charge('req_1', 5, 'slice_1'))
      await scene.ledger.closeSlice('slice_1')
      assert.deepEqual(await scene.balance(), [0, -5, 0, 5])
      assert.deepEqual(await scene.open('slice_2', 0), { result: 'insufficient', availableMicro: -5 })
    })

    it('charges a request once, and answers later attempts with the stored charge', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 50)
      const charge = scene.charge('req_1', 30, 'slice_1')
      const first = await scene.ledger.settle(charge)
      assert.deepEqual(first, {
        outcome: 'answered',
        micro: 30,
        isFirst: true,
        isSliceOpen: true,
        remainingMicro: 70,
      })
      const late: Charge = { ...charge, micro: 0, outcome: 'orphaned' }
      assert.deepEqual(await scene.ledger.settle(late), { ...first, isFirst: false })
      assert.deepEqual(await scene.ledger.settle(charge), { ...first, isFirst: false })
      assert.deepEqual(await scene.balance(), [100, 45, 25, 30])
    })

    it('does not charge a request that was closed as an orphan', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 50)
      const charge = scene.charge('req_1', 30, 'slice_1')
      await scene.ledger.settle({ ...charge, micro: 0, outcome: 'orphaned' })
      const zombie = await scene.ledger.settle(charge)
      assert.deepEqual(
        [zombie.outcome, zombie.micro, zombie.isFirst, zombie.remainingMicro],
        ['orphaned', 0, false, 100],
      )
    })

    it('writes many concurrent charges once each, including repeated ones', async () => {
      await using scene = await openScene(open)
      await scene.grant(100_000)
      await scene.open('slice_1', 50_000)
      const charges = Array.from({ length: 700 }, (_, at) => scene.charge(`req_${at % 600}`, 7, 'slice_1'))
      const settled = await Promise.all(charges.map((charge) => scene.ledger.settle(charge)))
      assert.equal(settled.filter(({ isFirst }) => isFirst).length, 600)
      assert.deepEqual(await scene.balance(), [100_000, 45_000, 55_000 - 4_200, 4_200])
      const [slice] = await scene.ledger.liveSlices()
      assert.equal(slice?.settledMicro, 4_200)
    })

    it('distinguishes new charges from repeated ones, and the charges of closed slices from those of open ones', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 50)
      await scene.open('slice_2', 10, { epoch: 'another life' })
      await scene.ledger.closeSlice('slice_2')
      await scene.ledger.settle(scene.charge('req_1', 30, 'slice_1'))
      const givenUp: Charge = { ...scene.charge('req_1', 0, 'slice_1'), outcome: 'orphaned' }
      const together = [givenUp, scene.charge('req_2', 5, 'slice_1'), scene.charge('req_3', 2, 'slice_2')]
      const settled = await Promise.all(together.map((charge) => scene.ledger.settle(charge)))
      assert.deepEqual(
        settled.map(({ outcome, micro, isFirst, isSliceOpen }) => [outcome, micro, isFirst, isSliceOpen]),
        [
          ['answered', 30, false, true],
          ['answered', 5, true, true],
          ['answered', 2, true, false],
        ],
      )
      assert.deepEqual(await scene.balance(), [100, 43, 20, 37])
    })

    it('keeps organizations separate', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.grant(200, { organizationId: 'org_2' })
      await scene.open('slice_1', 50)
      await scene.open('slice_2', 50, { organizationId: 'org_2' })
      await Promise.all([
        scene.ledger.settle(scene.charge('req_1', 10, 'slice_1')),
        scene.ledger.settle({ ...scene.charge('req_2', 20, 'slice_2'), organizationId: 'org_2' }),
      ])
      assert.equal((await scene.balance())[3], 10)
      assert.equal((await scene.balance('org_2'))[3], 20)
    })

    it('stores usage without metering, and moves no credits', async () => {
      await using scene = await openScene(open)
      const settled = await scene.ledger.settle(scene.charge('req_1', 0, null))
      assert.deepEqual([settled.isFirst, settled.isSliceOpen, settled.remainingMicro], [true, false, 0])
      assert.deepEqual(await scene.balance(), [0, 0, 0, 0])
    })

    it('returns the remainder of a slice when it is closed, once', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 50)
      await scene.ledger.settle(scene.charge('req_1', 30, 'slice_1'))
      await scene.ledger.retireSlice('slice_1')
      assert.equal((await scene.ledger.topUpSlice('slice_1', { leastMicro: 0, wantedMicro: 1 })).result, 'retired')
      const late = await scene.ledger.settle(scene.charge('req_2', 5, 'slice_1'))
      assert.equal(late.isSliceOpen, false)
      assert.deepEqual(await scene.balance(), [100, 45, 20, 35])
      await Promise.all([scene.ledger.closeSlice('slice_1'), scene.ledger.closeSlice('slice_1')])
      assert.deepEqual(await scene.balance(), [100, 65, 0, 35])
      assert.deepEqual(await scene.ledger.liveSlices(), [])
    })

    it('takes a charge that arrives after its slice was closed from the available balance', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 50)
      await scene.ledger.closeSlice('slice_1')
      await scene.ledger.settle(scene.charge('req_1', 30, 'slice_1'))
      assert.deepEqual(await scene.balance(), [100, 70, 0, 30])
    })

    it('books the overspent part of a slice as debt when it is closed', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 100)
      const { remainingMicro } = await scene.ledger.settle(scene.charge('req_1', 103, 'slice_1'))
      assert.equal(remainingMicro, -3)
      await scene.ledger.closeSlice('slice_1')
      assert.deepEqual(await scene.balance(), [100, -3, 0, 103])
    })

    it('reports how much of a slice was settled, without the requests that are still running', async () => {
      await using scene = await openScene(open)
      await scene.grant(100)
      await scene.open('slice_1', 100)
      for (const number of [1, 2, 3]) await scene.ledger.settle(scene.charge(`req_${number}`, number, 'slice_1'))
      assert.deepEqual(await scene.ledger.settledOf('slice_1', []), { state: 'open', micro: 6 })
      assert.deepEqual(await scene.ledger.settledOf('slice_1', ['req_2', 'req_9']), { state: 'open', micro: 4 })
      assert.equal(await scene.ledger.settledOf('slice_9', []), undefined)
      assert.equal(await scene.ledger.drift('org_1'), 0)
    })

    it('loses and duplicates nothing when charges, opened slices and closed slices race', async () => {
      await using scene = await openScene(open)
      await scene.grant(10_000)
      await scene.open('slice_0', 1_000)
      const work = Array.from({ length: 40 }, async (_, at) => {
        const slice = `slice_${at % 4}`
        if (at % 10 === 3) await scene.ledger.closeSlice(slice)
        else if (at % 10 === 7) await scene.open(slice, 100, { epoch: `life ${at % 4}` }).catch(() => undefined)
        else await scene.ledger.settle(scene.charge(`req_${at}`, 11, slice))
      })
      await Promise.all(work)
      for (const { id } of await scene.ledger.liveSlices()) await scene.ledger.closeSlice(id)
      const spent = 11 * work.filter((_, at) => at % 10 !== 3 && at % 10 !== 7).length
      assert.deepEqual(await scene.balance(), [10_000, 10_000 - spent, 0, spent])
    })
  })
}

async function openScene(open: Engine['open']) {
  const database = await open()
  const { clock } = createHandClock()
  const ids = createIds(clock, systemRandom)
  for (const id of ['org_1', 'org_2']) {
    await database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf(id)))
  }
  const ledger = ledgerStore(database, { ids, clock })
  const newSlice = (id: string, other: Partial<NewSlice> = {}): NewSlice => ({
    id,
    organizationId: 'org_1',
    holder: 'node',
    epoch: 'this life',
    ...other,
  })
  return {
    ledger,
    newSlice,
    charge: chargeOf,
    slice: (id: string) => ({ ...newSlice(id), amountMicro: 0, settledMicro: 0, state: 'open', closingAtMs: null }),
    grant: (micro: number, other: Partial<NewGrant> = {}) =>
      database.transaction((tx) =>
        grantStore(tx, { ids, clock, engine: database.engine }).grant({
          organizationId: 'org_1',
          kind: 'grant',
          ref: 'start',
          micro,
          note: '',
          ...other,
        }),
      ),
    correct: (micro: number, ref: string) =>
      database.transaction((tx) =>
        grantStore(tx, { ids, clock, engine: database.engine }).correct({
          organizationId: 'org_1',
          ref,
          micro,
          note: '',
        }),
      ),
    open: (id: string, micro: number, other: Partial<NewSlice> = {}) =>
      ledger.openSlice(newSlice(id, other), { leastMicro: micro, wantedMicro: micro }),
    async balance(organizationId = 'org_1') {
      const row = await ledger.balance(organizationId)
      return [row?.grantedMicro, row?.availableMicro, row?.heldMicro, row?.spentMicro].map((micro) => micro ?? 0)
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
