import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createQuickClock } from '../../../test/support/quick-clock.ts'
import { noFailpoint } from '../../base/failpoint.ts'
import { createLimitEngine } from '../limits/engine/engine.ts'
import { limitSettings as settings } from '../../../test/support/limit-settings.ts'
import type { GrantResult } from '../limits/store.ts'
import { createSliceAllocator } from './slice-allocator.ts'
import type { LedgerStore, Slice, SliceRequest } from './ledger-store.ts'

const organizationId = 'org_1'
const epoch = 'life'

/** A ledger of one organization that fits on a page, and notes what it was asked. */
function createSmallLedger(available: number) {
  const slices = new Map<string, Slice>()
  const asked: string[] = []
  const state = { available, changes: 0 }
  const take = ({ leastMicro, wantedMicro }: SliceRequest): number =>
    state.available < leastMicro ? 0 : Math.min(state.available, wantedMicro)
  const change = (id: string, part: Partial<Slice>): void => {
    const slice = slices.get(id)
    if (slice) slices.set(id, { ...slice, ...part })
  }
  const ledger: Pick<LedgerStore, 'openSlice' | 'raiseSlice' | 'retireSlice' | 'closeSlice'> = {
    async openSlice(named, wish) {
      asked.push('open')
      await new Promise(setImmediate)
      const open = [...slices.values()].find((slice) => slice.state === 'open' && slice.epoch === named.epoch)
      if (open) return { result: 'exists', slice: open }
      if (state.available < wish.leastMicro) return { result: 'insufficient', availableMicro: state.available }
      const amountMicro = take(wish)
      state.available -= amountMicro
      const slice: Slice = { ...named, amountMicro, settledMicro: 0, state: 'open', closingAtMs: null }
      slices.set(named.id, slice)
      return { result: 'opened', slice }
    },
    async raiseSlice(id, wish) {
      asked.push('raise')
      const slice = slices.get(id)
      if (slice?.state !== 'open') return { result: 'retired' }
      const takenMicro = take(wish)
      state.available -= takenMicro
      change(id, { amountMicro: slice.amountMicro + takenMicro })
      const raised = { ...slice, amountMicro: slice.amountMicro + takenMicro }
      return { result: 'raised', slice: raised, takenMicro, availableMicro: state.available }
    },
    async retireSlice(id) {
      asked.push('retire')
      change(id, { state: 'closing' })
    },
    async closeSlice(id) {
      asked.push('close')
      change(id, { state: 'closed' })
    },
  }
  return { ledger, slices, asked, state }
}

function openScene(available: number, grantResult?: GrantResult) {
  const clock = createQuickClock()
  const engine = createLimitEngine({ nowMs: () => clock.nowMs(), epoch, settings })
  const small = createSmallLedger(available)
  let count = 0
  const funds = createSliceAllocator({
    ledger: small.ledger,
    limits: { ...engine, grant: (grant) => grantResult ?? engine.grant(grant) },
    holderOf: () => 'node',
    changes: { latestOf: () => small.state.changes },
    ids: (prefix) => `${prefix}_${++count}`,
    clock,
    failpoint: noFailpoint,
  })
  const standing = { epoch, sliceId: null, leftMicro: 0 }
  return { ...small, clock, engine, funds, need: { organizationId, micro: 10, standing } }
}

const leftIn = ({ engine }: ReturnType<typeof openScene>): number | undefined =>
  engine.accounts(organizationId)[0]?.slice?.leftMicro

describe('funds', () => {
  it('answer all needs of a turn with one step of the ledger', async () => {
    const scene = openScene(1_000)
    const answers = await Promise.all(Array.from({ length: 50 }, () => scene.funds.raise(scene.need)))
    assert.deepEqual(new Set(answers), new Set(['raised']))
    assert.deepEqual(scene.asked, ['open'])
    assert.equal(leftIn(scene), 500)
  })

  it('let whoever comes while a step is under way ask the counters again', async () => {
    const scene = openScene(1_000)
    const first = scene.funds.raise(scene.need)
    await new Promise(setImmediate)
    const late = scene.funds.raise(scene.need)
    assert.deepEqual(await Promise.all([first, late]), ['raised', 'raised'])
    assert.deepEqual(scene.asked, ['open'])
  })

  it('raise the slice by what is missing, a debt included', async () => {
    const scene = openScene(1_000)
    await scene.funds.raise(scene.need)
    const standing = { epoch, sliceId: 'slice_1', leftMicro: -3 }
    assert.equal(await scene.funds.raise({ ...scene.need, standing }), 'raised')
    assert.equal(scene.slices.get('slice_1')?.amountMicro, 10 + 13)
  })

  it('say that there is no more, and for a moment do not ask the ledger again', async () => {
    const scene = openScene(9)
    assert.equal(await scene.funds.raise(scene.need), 'dry')
    assert.equal(await scene.funds.raise(scene.need), 'dry')
    assert.deepEqual(scene.asked, ['open'])
    assert.equal(await scene.funds.raise({ ...scene.need, micro: 9 }), 'raised') // but what fits, fits
  })

  it('ask the ledger again after a grant, and after a moment', async () => {
    const scene = openScene(9)
    await scene.funds.raise(scene.need)
    scene.state.changes++
    await scene.funds.raise(scene.need)
    assert.deepEqual(scene.asked, ['open', 'open'])
    scene.clock.pass(1_000)
    await scene.funds.raise(scene.need)
    assert.deepEqual(scene.asked, ['open', 'open', 'open'])
  })

  it('close a slice at once that the counters never had', async () => {
    for (const result of ['taken', 'stale'] as const) {
      const scene = openScene(100, result)
      await scene.funds.raise(scene.need)
      assert.deepEqual(scene.asked, ['open', 'close'])
    }
  })

  it('leave a slice open of which nobody knows whether the counters have it', async () => {
    const scene = openScene(100, 'unreachable')
    await scene.funds.raise(scene.need)
    assert.deepEqual(scene.asked, ['open'])
  })

  it('wait for another node’s slice to reach the counters, and then let it rest', async () => {
    const scene = openScene(100)
    await scene.ledger.openSlice(
      { id: 'theirs', organizationId, holder: 'shared', epoch },
      { leastMicro: 5, wantedMicro: 5 },
    )
    const startMs = scene.clock.nowMs()
    while (scene.slices.get('theirs')?.state === 'open') await scene.funds.raise(scene.need)
    assert.ok(scene.clock.nowMs() - startMs >= 1_000)
    assert.equal(await scene.funds.raise(scene.need), 'raised')
    assert.equal(leftIn(scene), 10)
  })

  it('do not mistake a slice for lost that two callers missed at long intervals', async () => {
    const scene = openScene(100)
    await scene.funds.raise(scene.need)
    await scene.funds.raise(scene.need) // what it knew of the counters was out of date
    scene.clock.pass(3_600_000)
    await scene.funds.raise(scene.need)
    assert.equal(scene.slices.get('slice_1')?.state, 'open')
  })

  it('take a slice from the counters that the ledger has retired', async () => {
    const scene = openScene(100)
    await scene.funds.raise(scene.need)
    await scene.ledger.retireSlice('slice_1')
    const standing = { epoch, sliceId: 'slice_1', leftMicro: 0 }
    assert.equal(await scene.funds.raise({ ...scene.need, standing }), 'raised')
    assert.equal(leftIn(scene), undefined)
  })

  it('hand out nothing to an organization whose sums are being looked into', async () => {
    const scene = openScene(100)
    scene.funds.freeze(organizationId)
    await assert.rejects(scene.funds.raise(scene.need), { code: 'credit_balance_unavailable' })
    assert.equal(scene.funds.frozenCount(), 1)
  })
})
