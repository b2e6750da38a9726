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

/** A minimal in-memory ledger of one organization that logs its calls. */
function createSmallLedger(available: number) {
  const slices = new Map<string, Slice>()
  const calls: string[] = []
  const state = { available, changes: 0 }
  const take = ({ leastMicro, wantedMicro }: SliceRequest): number =>
    state.available < leastMicro ? 0 : Math.min(state.available, wantedMicro)
  const change = (id: string, part: Partial<Slice>): void => {
    const slice = slices.get(id)
    if (slice) slices.set(id, { ...slice, ...part })
  }
  const ledger: Pick<LedgerStore, 'openSlice' | 'topUpSlice' | 'retireSlice' | 'closeSlice'> = {
    async openSlice(named, request) {
      calls.push('open')
      await new Promise(setImmediate)
      const open = [...slices.values()].find((slice) => slice.state === 'open' && slice.epoch === named.epoch)
      if (open) return { result: 'exists', slice: open }
      if (state.available < request.leastMicro) return { result: 'insufficient', availableMicro: state.available }
      const amountMicro = take(request)
      state.available -= amountMicro
      const slice: Slice = { ...named, amountMicro, settledMicro: 0, state: 'open', closingAtMs: null }
      slices.set(named.id, slice)
      return { result: 'opened', slice }
    },
    async topUpSlice(id, request) {
      calls.push('top up')
      const slice = slices.get(id)
      if (slice?.state !== 'open') return { result: 'retired' }
      const takenMicro = take(request)
      state.available -= takenMicro
      change(id, { amountMicro: slice.amountMicro + takenMicro })
      const toppedUp = { ...slice, amountMicro: slice.amountMicro + takenMicro }
      return { result: 'topped-up', slice: toppedUp, takenMicro, availableMicro: state.available }
    },
    async retireSlice(id) {
      calls.push('retire')
      change(id, { state: 'closing' })
    },
    async closeSlice(id) {
      calls.push('close')
      change(id, { state: 'closed' })
    },
  }
  return { ledger, slices, calls, state }
}

function openScene(available: number, grantResult?: GrantResult) {
  const clock = createQuickClock()
  const engine = createLimitEngine({ nowMs: () => clock.nowMs(), epoch, settings })
  const small = createSmallLedger(available)
  let count = 0
  const allocator = createSliceAllocator({
    ledger: small.ledger,
    limits: { ...engine, grant: (grant) => grantResult ?? engine.grant(grant) },
    holderOf: () => 'node',
    changes: { latestOf: () => small.state.changes },
    ids: (prefix) => `${prefix}_${++count}`,
    clock,
    failpoint: noFailpoint,
  })
  const credits = { epoch, sliceId: null, leftMicro: 0 }
  return { ...small, clock, engine, allocator, need: { organizationId, micro: 10, credits } }
}

const leftIn = ({ engine }: ReturnType<typeof openScene>): number | undefined =>
  engine.accounts(organizationId)[0]?.slice?.leftMicro

describe('the slice allocator', () => {
  it('covers all needs of one turn with a single ledger transaction', async () => {
    const scene = openScene(1_000)
    const answers = await Promise.all(Array.from({ length: 50 }, () => scene.allocator.topUp(scene.need)))
    assert.deepEqual(new Set(answers), new Set(['topped-up']))
    assert.deepEqual(scene.calls, ['open'])
    assert.equal(leftIn(scene), 500)
  })

  it('lets a need that arrives during a top-up try the counters again', async () => {
    const scene = openScene(1_000)
    const first = scene.allocator.topUp(scene.need)
    await new Promise(setImmediate)
    const late = scene.allocator.topUp(scene.need)
    assert.deepEqual(await Promise.all([first, late]), ['topped-up', 'topped-up'])
    assert.deepEqual(scene.calls, ['open'])
  })

  it('tops up the slice by what is missing, a debt included', async () => {
    const scene = openScene(1_000)
    await scene.allocator.topUp(scene.need)
    const credits = { epoch, sliceId: 'slice_1', leftMicro: -3 }
    assert.equal(await scene.allocator.topUp({ ...scene.need, credits }), 'topped-up')
    assert.equal(scene.slices.get('slice_1')?.amountMicro, 10 + 13)
  })

  it('reports an exhausted balance, and does not query the ledger again for a second', async () => {
    const scene = openScene(9)
    assert.equal(await scene.allocator.topUp(scene.need), 'exhausted')
    assert.equal(await scene.allocator.topUp(scene.need), 'exhausted')
    assert.deepEqual(scene.calls, ['open'])
    assert.equal(await scene.allocator.topUp({ ...scene.need, micro: 9 }), 'topped-up') // a smaller need that fits is covered
  })

  it('queries the ledger again after a grant, and after a second', async () => {
    const scene = openScene(9)
    await scene.allocator.topUp(scene.need)
    scene.state.changes++
    await scene.allocator.topUp(scene.need)
    assert.deepEqual(scene.calls, ['open', 'open'])
    scene.clock.pass(1_000)
    await scene.allocator.topUp(scene.need)
    assert.deepEqual(scene.calls, ['open', 'open', 'open'])
  })

  it('closes a slice at once that the counters never had', async () => {
    for (const result of ['taken', 'stale'] as const) {
      const scene = openScene(100, result)
      await scene.allocator.topUp(scene.need)
      assert.deepEqual(scene.calls, ['open', 'close'])
    }
  })

  it('leaves a slice open if it is unknown whether the counters have it', async () => {
    const scene = openScene(100, 'unreachable')
    await scene.allocator.topUp(scene.need)
    assert.deepEqual(scene.calls, ['open'])
  })

  it('waits for another node’s slice to reach the counters, and retires it after the timeout', async () => {
    const scene = openScene(100)
    await scene.ledger.openSlice(
      { id: 'slice_of_other_node', organizationId, holder: 'shared', epoch },
      { leastMicro: 5, wantedMicro: 5 },
    )
    const startMs = scene.clock.nowMs()
    while (scene.slices.get('slice_of_other_node')?.state === 'open') await scene.allocator.topUp(scene.need)
    assert.ok(scene.clock.nowMs() - startMs >= 1_000)
    assert.equal(await scene.allocator.topUp(scene.need), 'topped-up')
    assert.equal(leftIn(scene), 10)
  })

  it('does not treat a slice as lost that two callers missed at long intervals', async () => {
    const scene = openScene(100)
    await scene.allocator.topUp(scene.need)
    await scene.allocator.topUp(scene.need) // its view of the counters was out of date
    scene.clock.pass(3_600_000)
    await scene.allocator.topUp(scene.need)
    assert.equal(scene.slices.get('slice_1')?.state, 'open')
  })

  it('closes a slice in the counters that the ledger has retired', async () => {
    const scene = openScene(100)
    await scene.allocator.topUp(scene.need)
    await scene.ledger.retireSlice('slice_1')
    const credits = { epoch, sliceId: 'slice_1', leftMicro: 0 }
    assert.equal(await scene.allocator.topUp({ ...scene.need, credits }), 'topped-up')
    assert.equal(leftIn(scene), undefined)
  })

  it('rejects top-ups for a frozen organization', async () => {
    const scene = openScene(100)
    scene.allocator.freeze(organizationId)
    await assert.rejects(scene.allocator.topUp(scene.need), { code: 'credit_balance_unavailable' })
    assert.equal(scene.allocator.frozenCount(), 1)
  })
})
