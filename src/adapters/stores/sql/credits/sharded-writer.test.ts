import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterIo } from '../../../../base/after-io.ts'
import { DatabaseError } from '../database.ts'
import { createShardedWriter } from './sharded-writer.ts'

/** A writer that lists the groups it writes, and fails for the items that `failureFor` names. */
function openScene(failureFor: (input: number) => DatabaseError['reason'] | undefined = () => undefined) {
  const groups: (readonly number[])[] = []
  const writeIn = createShardedWriter<number, number>(async (inputs) => {
    groups.push(inputs)
    await afterIo()
    const reason = inputs.map(failureFor).find((one) => one !== undefined)
    if (reason !== undefined) throw new DatabaseError(reason, 'failed')
    return inputs.map((input) => input * 2)
  })
  return { groups, writeIn }
}

describe('a shard of the writer', () => {
  it('writes items that arrive together as one group, and resolves each with its own result', async () => {
    const { groups, writeIn } = openScene()
    assert.deepEqual(await Promise.all([1, 2, 3].map((input) => writeIn(0, input))), [2, 4, 6])
    assert.deepEqual(groups, [[1, 2, 3]])
  })

  it('collects items that arrive while it writes, and does not wait for another shard', async () => {
    const { groups, writeIn } = openScene()
    const first = writeIn(0, 1)
    await afterIo()
    assert.deepEqual(groups, [[1]])
    const more = [writeIn(0, 2), writeIn(0, 3), writeIn(1, 4)]
    await Promise.all([first, ...more])
    assert.deepEqual(groups, [[1], [4], [2, 3]])
  })

  it('writes at most 500 items at once', async () => {
    const { groups, writeIn } = openScene()
    await Promise.all(Array.from({ length: 1_100 }, (_, at) => writeIn(0, at)))
    assert.deepEqual(
      groups.map(({ length }) => length),
      [500, 500, 100],
    )
  })

  it('writes the other items of a group if one of them fails', async () => {
    const { writeIn } = openScene((input) => (input === 2 ? 'check' : undefined))
    const outcomes = await Promise.allSettled([1, 2, 3].map((input) => writeIn(0, input)))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })

  it('does not retry single items during an outage', async () => {
    const { groups, writeIn } = openScene(() => 'unavailable')
    const outcomes = await Promise.allSettled([1, 2].map((input) => writeIn(0, input)))
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.deepEqual(groups, [[1, 2]])
  })
})
