import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Channel } from './channel.ts'
import type { RequestKind, StepOutcome, StatementList } from './protocol.ts'
import { createWriters } from './writers.ts'

const step = (sql: string): StatementList => [{ sql }]
const sqlOf = (steps: readonly StatementList[]) => steps.map(([statement]) => statement?.sql)
const done: StepOutcome = { results: [] }

describe('the order of writers', () => {
  it('sends steps that arrive together as one group, and steps that arrive meanwhile as the next', async () => {
    const thread = createThread()
    const writers = createWriters(thread.channel)
    const first = [writers.write(step('a')), writers.write(step('b'))]
    assert.deepEqual(sqlOf(thread.take()), ['a', 'b'])
    const second = Promise.allSettled([writers.write(step('c')), writers.write(step('d'))])
    await thread.answer([done, done])
    await Promise.all(first)
    assert.deepEqual(sqlOf(thread.take()), ['c', 'd'])
    await thread.answer([done, { failure: { reason: 'unique', message: 'd is there' } }])
    assert.deepEqual(
      (await second).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })

  it('puts no step before an earlier transaction, and none into it', async () => {
    const thread = createThread()
    const writers = createWriters(thread.channel)
    const order: string[] = []
    const before = writers.write(step('before'))
    const { promise: work, resolve: finish } = Promise.withResolvers<void>()
    const exclusive = writers.exclusively(() => {
      order.push('transaction')
      return work
    })
    void writers.write(step('after'))
    assert.deepEqual(sqlOf(thread.take()), ['before'])
    await thread.answer([done])
    await before
    assert.deepEqual(order, ['transaction'])
    assert.equal(thread.isIdle(), true)
    finish()
    await exclusive
    await Promise.resolve()
    assert.deepEqual(sqlOf(thread.take()), ['after'])
  })

  it('waits for the disk only if a step of the group does', () => {
    const thread = createThread()
    const writers = createWriters(thread.channel)
    void writers.write(step('a'), { waitsForDisk: false })
    void writers.write(step('b'), { waitsForDisk: false })
    void writers.write(step('c'))
    assert.deepEqual([thread.kind(), sqlOf(thread.take())], ['relaxed group', ['a', 'b']])
    void thread.answer([done, done])
  })

  it('lets a step that need not wait for the disk join a group that does', () => {
    const thread = createThread()
    const writers = createWriters(thread.channel)
    void writers.write(step('a'))
    void writers.write(step('b'), { waitsForDisk: false })
    assert.deepEqual([thread.kind(), sqlOf(thread.take())], ['group', ['a', 'b']])
  })

  it('bounds the size of a group', () => {
    const thread = createThread()
    const writers = createWriters(thread.channel)
    for (let count = 0; count < 501; count++) void writers.write(step('x'))
    assert.equal(thread.take().length, 500)
  })

  it('rejects all waiting steps if the thread is dead, and stays usable', async () => {
    const dead = new Error('dead')
    const writers = createWriters({ call: () => Promise.reject(dead), ended: Promise.resolve() })
    const outcomes = await Promise.allSettled([writers.write(step('a')), writers.write(step('b'))])
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason === dead))
    await assert.rejects(writers.write(step('c')), dead)
  })
})

/** Replaces the database thread: the test decides when a request is sent and when it is answered. */
function createThread() {
  let waiting:
    | { kind: RequestKind; makeSteps(): readonly StatementList[]; resolve(outcomes: readonly StepOutcome[]): void }
    | undefined
  const channel: Channel = {
    ended: Promise.resolve(),
    call(kind, makeSteps = () => []) {
      const { promise, resolve } = Promise.withResolvers<readonly StepOutcome[]>()
      waiting = { kind, makeSteps, resolve }
      return promise
    },
  }
  return {
    channel,
    kind: () => waiting?.kind,
    isIdle: () => waiting === undefined,
    take: (): readonly StatementList[] => waiting?.makeSteps() ?? [],
    async answer(outcomes: readonly StepOutcome[]): Promise<void> {
      const { resolve } = waiting ?? assert.fail('no request was sent')
      waiting = undefined
      resolve(outcomes)
      await new Promise(setImmediate)
    },
  }
}
