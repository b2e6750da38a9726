import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterIo } from './after-io.ts'
import { createGroupCommit } from './group-commit.ts'

/** Collects every group, and finishes its write when the test resolves it. */
function openScene() {
  const groups: (readonly string[])[] = []
  const writing: (() => void)[] = []
  const add = createGroupCommit<string, string>({
    mostAtOnce: 3,
    write(_name, group) {
      groups.push(group)
      return new Promise<void>((resolve) => writing.push(resolve))
    },
  })
  const finish = (): void => writing.shift()?.()
  const pass = async (turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) await afterIo()
  }
  return { groups, add, finish, pass }
}

describe('a group commit', () => {
  it('writes the first group after the current iteration of the event loop, with all items of it', async () => {
    const { groups, add, pass } = openScene()
    add('a', '1')
    add('a', '2')
    assert.deepEqual(groups, [])
    await pass(1)
    assert.deepEqual(groups, [['1', '2']])
  })

  it('waits a little longer before the next group, and includes what arrives meanwhile', async () => {
    const { groups, add, finish, pass } = openScene()
    add('a', '1')
    await pass(1)
    add('a', '2')
    finish()
    await pass(1)
    add('a', '3')
    await pass(5)
    assert.deepEqual(groups, [['1'], ['2', '3']])
  })

  it('waits longer even if nothing was queued when the previous group ended', async () => {
    const { groups, add, finish, pass } = openScene()
    add('a', '1')
    await pass(1)
    finish()
    await pass(1)
    add('a', '2')
    await pass(1)
    add('a', '3')
    await pass(5)
    assert.deepEqual(groups, [['1'], ['2', '3']])
  })

  it('limits the size of a group, and loses no item that arrives when the last group ends', async () => {
    const { groups, add, finish, pass } = openScene()
    for (const item of ['1', '2', '3', '4']) add('a', item)
    await pass(1)
    finish()
    await pass(5)
    finish()
    await Promise.resolve()
    add('a', '5')
    await pass(5)
    assert.deepEqual(groups, [['1', '2', '3'], ['4'], ['5']])
  })

  it('does not let one name wait for another', async () => {
    const { groups, add, pass } = openScene()
    add('a', '1')
    await pass(1)
    add('b', '2')
    await pass(1)
    assert.deepEqual(groups, [['1'], ['2']])
  })
})
