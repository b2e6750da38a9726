import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allOf, andThen, inTurn, isPending } from './eventually.ts'

const later = <T>(value: T): Promise<T> => Promise.resolve(value)

describe('what is mostly at hand', () => {
  it('is used at once where it is at hand, and later where it is not', async () => {
    assert.equal(
      andThen(1, (one) => one + 1),
      2,
    )
    const waiting = andThen(later(1), (one) => one + 1)
    assert.ok(isPending(waiting))
    assert.equal(await waiting, 2)
  })

  it('is worked off one after the other, in order, whoever has to be waited for', async () => {
    const seen: string[] = []
    const work = (item: string): undefined | Promise<void> => {
      seen.push(`${item} begins`)
      return item.startsWith('slow') ? later(undefined).then(() => void seen.push(`${item} ends`)) : undefined
    }
    assert.equal(inTurn(['a', 'b'], work), undefined)
    await inTurn(['slow c', 'd', 'slow e', 'f'], work)
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
    await assert.rejects(async () => inTurn([1, 2, 3], work), /no/)
    assert.deepEqual(begun, [1, 2])
  })

  it('is gathered at once where all of it is at hand', async () => {
    assert.deepEqual(allOf([1, 2]), [1, 2])
    assert.deepEqual(await allOf([1, later(2)]), [1, 2])
  })
})
