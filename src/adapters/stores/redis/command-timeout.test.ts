import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { createCommandTimeout } from './command-timeout.ts'

const never = new Promise<string>(() => {})

describe('the timeout of a command', () => {
  it('is longer for a command with others ahead of it', async () => {
    const { clock, pass } = createHandClock()
    const withTimeout = createCommandTimeout(clock, 50)
    const ends = [withTimeout(never), withTimeout(never)].map((waiting) =>
      waiting.catch((error: Error) => error.message),
    )
    const firstOver = async (): Promise<unknown> => Promise.race([...ends, Promise.resolve('still waiting')])
    await pass(49)
    assert.equal(await firstOver(), 'still waiting')
    await pass(1)
    assert.equal(await ends[0], 'no answer in time')
    assert.equal(await Promise.race([ends[1], Promise.resolve('still waiting')]), 'still waiting')
    await pass(1)
    assert.equal(await ends[1], 'no answer in time')
  })

  it('accepts a reply that arrives in the turn in which it would expire', async () => {
    const { clock, pass } = createHandClock()
    const withTimeout = createCommandTimeout(clock, 50)
    const { promise, resolve } = Promise.withResolvers<string>()
    const waiting = withTimeout(promise)
    const passed = pass(60)
    resolve('late, but here')
    await passed
    assert.equal(await waiting, 'late, but here')
  })

  it('passes on the reply of the server, also an error', async () => {
    const { clock, waiting } = createHandClock()
    const withTimeout = createCommandTimeout(clock, 50)
    assert.equal(await withTimeout(Promise.resolve('yes')), 'yes')
    await assert.rejects(withTimeout(Promise.reject(new Error('no'))), /no/)
    assert.equal(waiting(), 0)
  })
})
