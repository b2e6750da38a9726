import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock, type Clock } from '../../../base/clock.ts'
import { nextOf } from '../../../base/pull-stream.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { createExchange, type Exchange } from './exchange.ts'
import type { TimeLimits } from './timeouts.ts'

/** Simulates undici's side of an exchange. */
function begin(clock: Clock = systemClock, more: Partial<TimeLimits> = {}, callerWaitMs?: () => number) {
  const calls: string[] = []
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => void calls.push('abort'),
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
  }
  const aborter = new AbortController()
  const exchange = createExchange({
    clock,
    limits: { connectTimeoutMs: 60_000, firstByteTimeoutMs: 60_000, idleTimeoutMs: 60_000, ...more },
    signal: aborter.signal,
    callerWaitMs,
    onSettled: () => void calls.push('settled'),
  })
  const { handler } = exchange
  return {
    exchange,
    aborter,
    calls,
    start: () => handler.onRequestStart?.(controller, {}),
    head: () => handler.onResponseStart?.(controller, 200, {}),
    data: (length: number) => handler.onResponseData?.(controller, Buffer.alloc(length)),
    end: () => handler.onResponseEnd?.(controller, {}),
    error: (error: Error) => handler.onResponseError?.(controller, error),
  }
}

const read = (exchange: Exchange): Promise<readonly Buffer[] | undefined> => nextOf<readonly Buffer[]>(exchange)

describe('an exchange', () => {
  it('pauses the upstream beyond 64 KiB unread, and resumes it after a read', async () => {
    const { exchange, calls, start, head, data } = begin()
    start()
    head()
    data(64 * 1024)
    assert.deepEqual(calls, [])
    data(1)
    assert.deepEqual(calls, ['pause'])
    assert.equal((await read(exchange))?.length, 2)
    assert.deepEqual(calls, ['pause', 'resume'])
  })

  it('delivers the bytes before a failure, then the failure', async () => {
    const { exchange, start, head, data, error } = begin()
    start()
    head()
    data(3)
    error(new Error('reset'))
    assert.equal((await read(exchange))?.length, 1)
    await assert.rejects(read(exchange), { kind: 'upstream_failed' })
  })

  it('discards the bytes received before it was cancelled', async () => {
    const { exchange, aborter, calls, start, head, data } = begin()
    start()
    head()
    data(3)
    aborter.abort()
    await assert.rejects(read(exchange), { message: 'The call was cancelled.' })
    assert.deepEqual(calls, ['settled', 'abort'])
  })

  it('ends immediately when cancelled before there is a connection, and aborts the connection when it opens', async () => {
    const { exchange, aborter, calls, start } = begin()
    aborter.abort()
    await assert.rejects(exchange.head, { message: 'The call was cancelled.' })
    assert.deepEqual(calls, ['settled'])
    start()
    assert.deepEqual(calls, ['settled', 'abort'])
  })

  it('times out if no connection is established', async () => {
    let nowMs = 0
    let fire = (): void => assert.fail('no timer')
    const clock: Clock = {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      after(delayMs, callback) {
        assert.equal(delayMs, 60_000)
        fire = callback
        return () => {}
      },
    }
    const { exchange } = begin(clock)
    nowMs = 60_000
    fire()
    await assert.rejects(exchange.head, { kind: 'upstream_timeout', message: /could not be reached in time/ })
  })

  it('ignores interim responses such as 103 Early Hints', async () => {
    const { exchange, start, head } = begin()
    start()
    exchange.handler.onResponseStart?.({} as never, 103, {})
    head()
    assert.equal((await exchange.head).status, 200)
    exchange.drain()
  })

  it('discards bytes that arrive while it drains', async () => {
    const { exchange, calls, start, head, data, end } = begin()
    start()
    head()
    exchange.drain()
    data(1_000_000)
    end()
    assert.equal(await read(exchange), undefined)
    assert.deepEqual(calls, ['resume', 'settled'])
  })
})

describe('an exchange whose response is read slowly', () => {
  /** An exchange that has paused its upstream, with a total timeout of one minute. The caller is waited for in `wait`. */
  function paused() {
    const { clock, advance } = createHandClock()
    let waitedMs = 0
    const scene = begin(clock, { timeoutMs: 60_000, idleTimeoutMs: 600_000 }, () => waitedMs)
    scene.start()
    scene.head()
    scene.data(64 * 1024 + 1)
    const wait = (ms: number): void => {
      waitedMs += ms
      advance(ms)
    }
    return { ...scene, advance, wait }
  }
  const upstreamsFault = { kind: 'upstream_timeout', code: 'upstream_timeout' }
  const callersFault = { kind: 'timeout', code: 'response_not_read' }

  it('blames the caller if the call times out while the gateway waits for it', async () => {
    const { exchange, wait } = paused()
    wait(60_000)
    await assert.rejects(read(exchange), callersFault)
  })

  it('blames the caller if earlier waits for it used up the time', async () => {
    const { exchange, advance, wait } = paused()
    wait(1_000)
    await read(exchange)
    advance(59_000)
    await assert.rejects(read(exchange), callersFault)
  })

  it('blames the upstream if the wait was too short to matter', async () => {
    const { exchange, advance, wait } = paused()
    wait(999)
    await read(exchange)
    advance(59_001)
    await assert.rejects(read(exchange), upstreamsFault)
  })

  it('does not blame the caller for a pause in which the gateway did not wait for it', async () => {
    const { exchange, advance } = paused()
    advance(60_000)
    await assert.rejects(read(exchange), upstreamsFault)
  })

  it('blames the caller if the upstream closes the connection during a long wait for it', async () => {
    const { exchange, wait, error } = paused()
    wait(30_000)
    error(new Error('reset'))
    await read(exchange)
    await assert.rejects(read(exchange), callersFault)
  })

  it('blames the upstream if it closes the connection while the gateway is busy', async () => {
    const { exchange, advance, error } = paused()
    advance(30_000)
    error(new Error('reset'))
    await read(exchange)
    await assert.rejects(read(exchange), { kind: 'upstream_failed' })
  })

  it('blames the upstream if it closes the connection after the caller has read', async () => {
    const { exchange, wait, error } = paused()
    wait(30_000)
    await read(exchange)
    error(new Error('reset'))
    await assert.rejects(read(exchange), { kind: 'upstream_failed' })
  })
})
