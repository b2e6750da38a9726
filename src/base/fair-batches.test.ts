import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFairBatches } from './fair-batches.ts'

type Batch = { readonly items: readonly string[]; end(): void; fail(error: Error): void }

/** Batches that run until the test ends them. */
function createScene({ maxConcurrent = 2, maxBatch = 3, maxWaiting = 1_000 } = {}) {
  const running: Batch[] = []
  const started: (readonly string[])[] = []
  const { submit } = createFairBatches<string, string>({
    maxConcurrent,
    maxBatch,
    maxWaiting,
    run(items) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
      running.push({ items, end: () => resolve(items.map((item) => `${item}!`)), fail: reject })
      started.push(items)
      return promise
    },
    overflow: () => new Error('too many wait'),
  })
  const next = (): Batch => {
    const batch = running.shift()
    assert.ok(batch)
    return batch
  }
  return { submit, running, started, next }
}

/** Lets all callbacks that are already queued run. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('fair batches', () => {
  it('start at once while there is capacity, and wait otherwise', async () => {
    const { submit, started, next } = createScene()
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((item) => submit('one', item))
    assert.deepEqual(started, [['a'], ['b']])
    next().end()
    await settled()
    assert.deepEqual(started, [['a'], ['b'], ['c', 'd', 'e']])
    next().end()
    next().end()
    await settled()
    next().end()
    assert.deepEqual(await Promise.all(all), ['a!', 'b!', 'c!', 'd!', 'e!', 'f!'])
  })

  it('take one item of each submitter in turn, so that a flood of one submitter does not delay the others', async () => {
    const { submit, started, next } = createScene({ maxConcurrent: 1, maxBatch: 3, maxWaiting: 5_000 })
    for (let count = 0; count < 5_000; count++) void submit('flood', `flood ${count}`).catch(() => {})
    const answered = submit('quiet', 'quiet 0')
    next().end()
    await settled()
    assert.deepEqual(started[1], ['flood 1', 'quiet 0', 'flood 2'])
    next().end()
    assert.equal(await answered, 'quiet 0!')
  })

  it('resolve the items of each submitter in order, over a long queue', async () => {
    const { submit, running, next } = createScene({ maxConcurrent: 1, maxBatch: 700, maxWaiting: 10_000 })
    const order: string[] = []
    const all = Array.from({ length: 5_000 }, (_, count) => `${count}`).map((item) =>
      submit('one', item).then((result) => void order.push(result)),
    )
    while (running.length > 0) {
      next().end()
      await settled()
    }
    await Promise.all(all)
    assert.deepEqual(
      order,
      Array.from({ length: 5_000 }, (_, count) => `${count}!`),
    )
  })

  it('reject the items of a batch that failed, and go on with the next', async () => {
    const { submit, next } = createScene({ maxConcurrent: 1 })
    const failed = submit('one', 'a')
    const good = submit('one', 'b')
    next().fail(new Error('no'))
    await assert.rejects(failed, /no/)
    next().end()
    assert.equal(await good, 'b!')
  })

  it('reject further items of a submitter that has the maximum waiting, and not those of others', async () => {
    const { submit, next } = createScene({ maxConcurrent: 1, maxWaiting: 2 })
    const all = ['a', 'b', 'c'].map((item) => submit('one', item))
    await assert.rejects(submit('one', 'd'), /too many wait/)
    const other = submit('two', 'e')
    next().end()
    await settled()
    next().end()
    assert.deepEqual(await Promise.all([...all, other]), ['a!', 'b!', 'c!', 'e!'])
  })
})
