import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../../../base/clock.ts'
import { DatabaseError } from '../database.ts'
import { createDatabaseBreaker, type DatabaseBreaker } from './breaker.ts'

const isUnavailable = (error: unknown): boolean => error instanceof DatabaseError && error.reason === 'unavailable'
const never = new Promise<never>(() => {})

/** A server that answers probes or not, controlled by the test. */
function createScene() {
  const server = { isUp: true, probes: 0, broken: 0 }
  const breaker = createDatabaseBreaker({
    async probe() {
      server.probes++
      if (!server.isUp) await never
    },
    onOpen: () => server.broken++,
    answerTimeoutMs: 40,
    clock: systemClock,
  })
  return { server, breaker }
}

async function untilClosed(breaker: DatabaseBreaker): Promise<void> {
  while (!(await breaker.run(async () => true).catch(() => false))) await new Promise((r) => setTimeout(r, 10))
}

describe('the circuit breaker of PostgreSQL', () => {
  it('ends work on a hanging server, and starts none until the server answers', async () => {
    const { server, breaker } = createScene()
    server.isUp = false
    const calls = await Promise.allSettled([breaker.run(() => never), breaker.run(() => never)])
    assert.ok(calls.every((call) => call.status === 'rejected' && isUnavailable(call.reason)))
    assert.equal(server.broken, 1)
    let begun = 0
    for (let count = 0; count < 5; count++)
      await assert.rejects(
        breaker.run(async () => begun++),
        isUnavailable,
      )
    assert.equal(begun, 0)
    server.isUp = true
    await untilClosed(breaker)
    assert.equal(server.broken, 1)
  })

  it('does not end slow work while its server answers', async () => {
    const { server, breaker } = createScene()
    const { promise, resolve } = Promise.withResolvers<string>()
    const running = breaker.run(() => promise)
    while (server.probes < 3) await new Promise((r) => setTimeout(r, 5))
    resolve('done')
    assert.equal(await running, 'done')
    assert.equal(server.broken, 0)
  })

  it('sends no probe while work is fast', async () => {
    const { server, breaker } = createScene()
    for (let count = 0; count < 10; count++) await breaker.run(async () => undefined)
    assert.equal(server.probes, 0)
  })

  it('marks ended work, so that it starts nothing else', async () => {
    const { server, breaker } = createScene()
    server.isUp = false
    const late = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<boolean>()
    const running = breaker.run(async (call) => {
      await late.promise
      seen.resolve(call.isOver)
    })
    await assert.rejects(running, isUnavailable)
    late.resolve()
    assert.equal(await seen.promise, true)
  })
})
