import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemorySpool } from '../../test/support/memory-spool.ts'
import { Fault } from './fault.ts'
import { createDrainingSpool, moveSpool, type Spool } from './spool.ts'

const outage = new Fault('unavailable', 'storage_unavailable', 'The database cannot be reached.')

/** A draining spool over a store that rejects every write which contains one of the `bad` items. */
async function scene(left: readonly string[], spool: Spool<string> = createMemorySpool((item) => item, left)) {
  const state = { nowMs: 0, bad: new Set<string>(), isDown: false }
  const written: string[] = []
  const setAside: string[] = []
  const draining = await createDrainingSpool({
    spool,
    clock: { monotonicMs: () => state.nowMs },
    async write(items) {
      if (state.isDown) throw outage
      if (items.some((item) => state.bad.has(item))) throw new Error('violates a constraint')
      written.push(...items)
    },
    onSetAside: (id, cause) => setAside.push(`${id}: ${String(cause)}`),
  })
  return { draining, spool, state, written, setAside }
}

describe('a draining spool with an item that the database rejects for good', () => {
  it('writes the other items, and keeps the rejected one for a minute', async () => {
    const { draining, state, written, setAside } = await scene(['a', 'bad', 'b'])
    state.bad.add('bad')
    await assert.rejects(draining.retry(), /violates a constraint/)
    assert.deepEqual([written, draining.waiting(), draining.setAside()], [['a', 'b'], 1, 0])
    state.nowMs = 59_999
    assert.equal(await draining.flush(), false)
    assert.deepEqual(setAside, [])
  })

  it('sets the item aside after a minute, reports it once, and does not block later items', async () => {
    const { draining, state, written, setAside } = await scene(['bad'])
    state.bad.add('bad')
    await assert.rejects(draining.retry())
    state.nowMs = 60_000
    assert.equal(await draining.flush(), true)
    assert.deepEqual([draining.waiting(), draining.setAside()], [0, 1])
    await draining.add(['later'])
    assert.equal(await draining.flush(), true)
    assert.deepEqual(written, ['later'])
    assert.deepEqual(setAside, ['bad: Error: violates a constraint'])
  })

  it('tries an item that was set aside again at the next start', async () => {
    const first = await scene(['bad'])
    first.state.bad.add('bad')
    await first.draining.flush()
    first.state.nowMs = 60_000
    await first.draining.flush()
    const next = await scene([], first.spool)
    assert.deepEqual([next.draining.waiting(), next.draining.setAside()], [1, 0])
    assert.equal(await next.draining.flush(), true)
    assert.deepEqual(next.written, ['bad'])
  })

  it('sets nothing aside during an outage, however long it lasts', async () => {
    const { draining, state, written } = await scene(['a', 'bad'])
    state.bad.add('bad')
    await draining.flush()
    await draining.add(['b'])
    state.isDown = true
    state.nowMs = 600_000
    await assert.rejects(draining.retry(), outage)
    assert.deepEqual([draining.waiting(), draining.setAside(), written], [2, 0, ['a']])
  })

  it('writes items behind more rejected ones than a batch holds', async () => {
    const many = Array.from({ length: 600 }, (_, at) => `bad ${at}`)
    const { draining, state, written } = await scene([...many, 'good'])
    state.bad = new Set(many)
    assert.equal(await draining.flush(), false)
    assert.deepEqual([written, draining.waiting()], [['good'], 600])
  })
})

describe('a spool that is moved to another one', () => {
  it('leaves nothing behind, and brings the items that were set aside', async () => {
    const items = Array.from({ length: 1_200 }, (_, at) => `item ${at}`)
    const from = createMemorySpool((item: string) => item, [...items, 'rejected'])
    await from.setAside('rejected')
    const to = createMemorySpool((item: string) => item, ['own', 'item 7'])
    assert.equal(await moveSpool(from, to), 1_201)
    assert.equal(await from.count(), 0)
    assert.deepEqual(new Set(await to.read(2_000)), new Set(['own', 'rejected', ...items]))
  })

  it('keeps an item until the other spool has it', async () => {
    const from = createMemorySpool((item: string) => item, ['only'])
    const full = { ...createMemorySpool((item: string) => item), append: () => Promise.reject(new Error('disk full')) }
    await assert.rejects(moveSpool(from, full), /disk full/)
    assert.equal(await from.count(), 1)
  })
})
