import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createHandClock } from '../../test/support/hand-clock.ts'
import { createPace } from './pace.ts'

it('steps run one at a time, and nothing runs after a step for as long as it took', async () => {
  const { clock, advance, pass } = createHandClock()
  const pace = createPace(clock)
  const started: string[] = []
  const step = (name: string) => async () => {
    started.push(name)
    advance(5)
  }
  const all = Promise.all([pace.run(step('a')), pace.run(step('b')), pace.run(step('c'))])
  for (let turn = 0; turn < 5; turn++) await pass(0)
  assert.deepEqual(started, ['a'])
  await pass(4)
  assert.deepEqual(started, ['a'])
  for (let turn = 0; turn < 5; turn++) await pass(turn === 0 ? 1 : 0)
  assert.deepEqual(started, ['a', 'b'])
  for (let turn = 0; turn < 5; turn++) await pass(turn === 0 ? 5 : 0)
  await all
})

it('a step that fails rejects for its caller, and the next one runs', async () => {
  const pace = createPace(createHandClock().clock)
  await assert.rejects(
    pace.run(() => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await pace.run(async () => 'next'), 'next')
})
