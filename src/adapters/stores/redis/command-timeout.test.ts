import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { createCommandTimeout } from './command-timeout.ts'

const never = new Promise<string>(() => {})

describe('the patience with a server', () => {
  it('ends after its time, and is longer for whoever comes after others', async () => {
    const { clock, pass } = createHandClock()
    const patience = createCommandTimeout(clock, 50)
    const ends = [patience(never), patience(never)].map((waiting) => waiting.catch((error: Error) => error.message))
    const firstOver = async (): Promise<unknown> => Promise.race([...ends, Promise.resolve('still waiting')])
    await pass(49)
    assert.equal(await firstOver(), 'still waiting')
    await pass(1)
    assert.equal(await ends[0], 'no answer in time')
    assert.equal(await Promise.race([ends[1], Promise.resolve('still waiting')]), 'still waiting')
    await pass(1)
    assert.equal(await ends[1], 'no answer in time')
  })

  it('takes what arrives in the same turn in which it would end', async () => {
    const { clock, pass } = createHandClock()
    const patience = createCommandTimeout(clock, 50)
    const { promise, resolve } = Promise.withResolvers<string>()
    const waiting = patience(promise)
    const passed = pass(60)
    resolve('late, but here')
    await passed
    assert.equal(await waiting, 'late, but here')
  })

  it('hands on what the server says, also when it says no', async () => {
    const { clock, waiting } = createHandClock()
    const patience = createCommandTimeout(clock, 50)
    assert.equal(await patience(Promise.resolve('yes')), 'yes')
    await assert.rejects(patience(Promise.reject(new Error('no'))), /no/)
    assert.equal(waiting(), 0)
  })
})
