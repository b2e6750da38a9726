import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterIo } from '../../../../base/after-io.ts'
import { DatabaseError } from '../database.ts'
import { createShardedWriter } from './sharded-writer.ts'

/** Writes groups on demand, and logs their items. */
function openScene(refuse: (input: number) => DatabaseError['reason'] | undefined = () => undefined) {
  const groups: (readonly number[])[] = []
  const inLane = createShardedWriter<number, number>(async (inputs) => {
    groups.push(inputs)
    await afterIo()
    const reason = inputs.map(refuse).find((one) => one !== undefined)
    if (reason !== undefined) throw new DatabaseError(reason, 'refused')
    return inputs.map((input) => input * 2)
  })
  return { groups, inLane }
}

describe('a lane', () => {
  it('writes items that arrive together as one group, and resolves each with its own result', async () => {
    const { groups, inLane } = openScene()
    assert.deepEqual(await Promise.all([1, 2, 3].map((input) => inLane(0, input))), [2, 4, 6])
    assert.deepEqual(groups, [[1, 2, 3]])
  })

  it('gathers what arrives while it writes, and does not wait for another lane', async () => {
    const { groups, inLane } = openScene()
    const first = inLane(0, 1)
    await afterIo()
    assert.deepEqual(groups, [[1]])
    const more = [inLane(0, 2), inLane(0, 3), inLane(1, 4)]
    await Promise.all([first, ...more])
    assert.deepEqual(groups, [[1], [4], [2, 3]])
  })

  it('never writes more than 500 at once', async () => {
    const { groups, inLane } = openScene()
    await Promise.all(Array.from({ length: 1_100 }, (_, at) => inLane(0, at)))
    assert.deepEqual(
      groups.map(({ length }) => length),
      [500, 500, 100],
    )
  })

  it('does not let one that cannot be written take the others with it', async () => {
    const { inLane } = openScene((input) => (input === 2 ? 'check' : undefined))
    const outcomes = await Promise.allSettled([1, 2, 3].map((input) => inLane(0, input)))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })

  it('does not try each where nothing can be written', async () => {
    const { groups, inLane } = openScene(() => 'unavailable')
    const outcomes = await Promise.allSettled([1, 2].map((input) => inLane(0, input)))
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.deepEqual(groups, [[1, 2]])
  })
})
