import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iterable, pullStreamOf, pending, readable, nextOf, prepend, tap, type PullStream } from './pull-stream.ts'

/** A pull stream of the items that the test adds. */
function createSource() {
  const items: (string | Error | undefined)[] = []
  let wakeUp = (): void => {}
  const flow: PullStream<string> = {
    poll() {
      if (items.length === 0) return pending
      const item = items.shift()
      if (item instanceof Error) throw item
      return item
    },
    onReadable: (wake) => (items.length > 0 ? wake() : (wakeUp = wake)),
  }
  const put = (...added: (string | Error | undefined)[]): void => {
    items.push(...added)
    wakeUp()
  }
  return { flow, put }
}

async function readAll(items: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = []
  for await (const item of items) read.push(item)
  return read
}

const rethrow = async (error: unknown): Promise<never> => {
  throw error
}

describe('a pull stream', () => {
  it('returns buffered items synchronously, and pending if there is none yet', () => {
    const { flow, put } = createSource()
    const seen: string[] = []
    const watching = tap(iterable(flow), (item) => (seen.push(item), item.toUpperCase()), rethrow)
    const all = prepend('first', watching)
    assert.equal(all.poll(), 'first')
    assert.equal(all.poll(), pending)
    put('one', 'two', undefined)
    assert.deepEqual([all.poll(), all.poll(), all.poll()], ['ONE', 'TWO', undefined])
    assert.deepEqual(seen, ['one', 'two'])
  })

  it('is awaited if the next item is not buffered yet', async () => {
    const { flow, put } = createSource()
    const next = nextOf(flow)
    put('late')
    assert.equal(await next, 'late')
  })

  it('can be read with for await, and is stopped when its consumer leaves', async () => {
    const { flow, put } = createSource()
    put('one', 'two', undefined)
    assert.deepEqual(await readAll(iterable(flow)), ['one', 'two'])
    let stops = 0
    const stoppable = iterable({ ...flow, stop: async () => (stops += 1) })
    put('three')
    for await (const item of stoppable) {
      assert.equal(item, 'three')
      break
    }
    assert.equal(stops, 1)
  })

  it('passes its error to onFailure, but not an error that the tap itself throws', async () => {
    const { flow, put } = createSource()
    const failures: unknown[] = []
    const onFailure = (error: unknown): Promise<never> => (failures.push(error), rethrow(error))
    const watch = (item: string): string => (item === 'bad' ? assert.fail('no such word') : item)
    const watching = tap(iterable(flow), watch, onFailure)
    put('bad', new Error('reset'))
    assert.throws(() => watching.poll(), /no such word/)
    await assert.rejects(async () => watching.poll(), /reset/)
    assert.equal(failures.length, 1)
  })
})

describe('an iterable as a pull stream', () => {
  it('requests one item at a time, and returns each of them once', async () => {
    let requested = 0
    async function* count(): AsyncGenerator<string, void> {
      while (requested < 2) yield String((requested += 1))
    }
    const flow = pullStreamOf(count())
    assert.equal(flow.poll(), pending)
    assert.equal(flow.poll(), pending)
    await readable(flow)
    assert.equal(requested, 1)
    assert.equal(flow.poll(), '1')
    assert.equal(await nextOf(flow), '2')
    assert.equal(await nextOf(flow), undefined)
  })

  it('throws what the iterable throws, and stops the iterable when its consumer leaves', async () => {
    let isTidy = false
    async function* fail(): AsyncGenerator<string, void> {
      try {
        yield 'one'
        throw new Error('broken')
      } finally {
        isTidy = true
      }
    }
    const broken = pullStreamOf(fail())
    assert.equal(await nextOf(broken), 'one')
    await assert.rejects(nextOf(broken), /broken/)
    isTidy = false
    const left = pullStreamOf(fail())
    assert.equal(await nextOf(left), 'one')
    await left.stop?.()
    assert.equal(isTidy, true)
  })

  it('is the same object if it is a pull stream already', () => {
    const itself = iterable(createSource().flow)
    assert.equal(pullStreamOf(itself), itself)
  })
})
