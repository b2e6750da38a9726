import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { createLinkedList } from './linked-list.ts'

describe('a linked list', () => {
  it('holds values in the order in which they were added', () => {
    const list = createLinkedList<string>()
    for (const value of ['a', 'b', 'c']) list.add(value)
    assert.deepEqual(list.values(), ['a', 'b', 'c'])
    assert.equal(list.size, 3)
  })

  it('removes the first, a middle and the last entry, and accepts new ones', () => {
    const list = createLinkedList<string>()
    const [a, b, c] = [list.add('a'), list.add('b'), list.add('c')]
    b.remove()
    assert.deepEqual(list.values(), ['a', 'c'])
    a.remove()
    assert.deepEqual(list.values(), ['c'])
    c.remove()
    assert.deepEqual(list.values(), [])
    list.add('d')
    assert.deepEqual(list.values(), ['d'])
  })

  it('ignores the second removal of an entry', () => {
    const list = createLinkedList<string>()
    const first = list.add('a')
    list.add('b')
    first.remove()
    first.remove()
    assert.equal(list.size, 1)
    assert.deepEqual(list.values(), ['b'])
  })

  it('may lose the current entry while it is iterated over', () => {
    const list = createLinkedList<() => void>()
    const seen: number[] = []
    for (const at of [0, 1, 2]) {
      const entry = list.add(() => {
        seen.push(at)
        entry.remove()
      })
    }
    for (const visit of list.values()) visit()
    assert.deepEqual(seen, [0, 1, 2])
    assert.equal(list.size, 0)
  })
})
