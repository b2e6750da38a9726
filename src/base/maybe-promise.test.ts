import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { all, andThen, sequentially, isPromise } from './maybe-promise.ts'

const later = <T>(value: T): Promise<T> => Promise.resolve(value)

describe('a value or a promise', () => {
  it('is used synchronously if it is a value, and later if it is a promise', async () => {
    assert.equal(
      andThen(1, (one) => one + 1),
      2,
    )
    const waiting = andThen(later(1), (one) => one + 1)
    assert.ok(isPromise(waiting))
    assert.equal(await waiting, 2)
  })

  it('is processed in order, whichever item has to be awaited', async () => {
    const seen: string[] = []
    const work = (item: string): undefined | Promise<void> => {
      seen.push(`${item} begins`)
      return item.startsWith('slow') ? later(undefined).then(() => void seen.push(`${item} ends`)) : undefined
    }
    assert.equal(sequentially(['a', 'b'], work), undefined)
    await sequentially(['slow c', 'd', 'slow e', 'f'], work)
    assert.deepEqual(
      seen.join(),
      'a begins,b begins,slow c begins,slow c ends,d begins,slow e begins,slow e ends,f begins',
    )
  })

  it('stops at the first failure', async () => {
    const begun: number[] = []
    const work = (item: number): Promise<never> | undefined => {
      begun.push(item)
      return item === 2 ? Promise.reject(new Error('no')) : undefined
    }
    await assert.rejects(async () => sequentially([1, 2, 3], work), /no/)
    assert.deepEqual(begun, [1, 2])
  })

  it('is collected synchronously if no item is a promise', async () => {
    assert.deepEqual(all([1, 2]), [1, 2])
    assert.deepEqual(await all([1, later(2)]), [1, 2])
  })
})
