import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterIo } from './after-io.ts'
import { createGroupCommit } from './group-commit.ts'

/** Notes every group, and is done with it when told to. */
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
  it('writes the first group at the end of the turn, with all that came in it', async () => {
    const { groups, add, pass } = openScene()
    add('a', '1')
    add('a', '2')
    assert.deepEqual(groups, [])
    await pass(1)
    assert.deepEqual(groups, [['1', '2']])
  })

  it('gathers the next one a little longer, and takes along what becomes ready meanwhile', async () => {
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

  it('gathers longer also where nothing waited when the group before was done', async () => {
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

  it('bounds a group, and loses nothing that comes when the last one is done', async () => {
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

  it('lets no name wait for another', async () => {
    const { groups, add, pass } = openScene()
    add('a', '1')
    await pass(1)
    add('b', '2')
    await pass(1)
    assert.deepEqual(groups, [['1'], ['2']])
  })
})
