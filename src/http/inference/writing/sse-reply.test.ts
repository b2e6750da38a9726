import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import { Fault } from '../../../base/fault.ts'
import type { InferenceEvent, Chunk } from '../../../domain/inference/events.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { sendStream, type StreamReply } from './sse-reply.ts'
import type { StreamWriter } from './stream-writer.ts'

/** A source of chunks that the test controls. It counts how often it was stopped. */
function createSource() {
  const waiting: PromiseWithResolvers<IteratorResult<Chunk>>[] = []
  const ready: Promise<IteratorResult<Chunk>>[] = []
  const polled = Promise.withResolvers<void>()
  let returns = 0
  const settle = (act: (step: PromiseWithResolvers<IteratorResult<Chunk>>) => void): void => {
    const step = waiting.shift()
    if (step !== undefined) return act(step)
    const later = Promise.withResolvers<IteratorResult<Chunk>>()
    later.promise.catch(() => {})
    act(later)
    ready.push(later.promise)
  }
  const iterator: AsyncIterator<Chunk> = {
    next() {
      polled.resolve()
      const step = ready.shift()
      if (step !== undefined) return step
      const later = Promise.withResolvers<IteratorResult<Chunk>>()
      waiting.push(later)
      return later.promise
    },
    async return() {
      returns += 1
      return { done: true, value: undefined }
    },
  }
  return {
    chunks: { [Symbol.asyncIterator]: () => iterator },
    iterator,
    polled: polled.promise,
    give: (text: string) => settle((step) => step.resolve({ done: false, value: chunkOf(text) })),
    finish: () => settle((step) => step.resolve({ done: true, value: undefined })),
    break: (error: unknown) => settle((step) => step.reject(error)),
    returns: () => returns,
  }
}

const chunkOf = (text: string): Chunk => ({ events: [{ type: 'delta', block: 0, text }] })
const textOf = (event: InferenceEvent | undefined): string => (event?.type === 'delta' ? event.text : '')

/** Writes the text of a chunk unchanged. `END` ends the answer, `BUG` is an illegal event. */
function createPlainWriter(): StreamWriter {
  let ended = false
  const write = (events: readonly InferenceEvent[]): string => {
    const text = textOf(events[0])
    if (text === 'BUG') throw new Error('Illegal event order.')
    ended ||= text === 'END'
    return `data: ${text}\n\n`
  }
  return {
    write,
    forward: (chunk) => write(chunk.events),
    fail(fault) {
      if (ended) return ''
      ended = true
      return `data: failed with ${fault.code}\n\n`
    },
    hasEnded: () => ended,
  }
}

type Parts = Partial<Omit<StreamReply, 'chunks' | 'clock'>>

/** A server with one route that streams from the source. */
async function createFixture(parts: Parts = {}) {
  const time = createHandClock()
  const source = createSource()
  const failures: unknown[] = []
  const settled = Promise.withResolvers<void>()
  const app = Fastify()
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof Fault ? 502 : 500).send('error'))
  app.get('/', async (_request, reply) => {
    reply.header('x-request-id', 'req_1')
    try {
      await sendStream(reply, {
        chunks: source.chunks,
        writer: createPlainWriter(),
        headers: { 'request-id': 'req_1' },
        clock: time.clock,
        onFailure: (error) => failures.push(error),
        ...parts,
      })
    } finally {
      settled.resolve()
    }
    return reply
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const call = () => request({ port, host: '127.0.0.1' })
  const answer = async (): Promise<IncomingMessage> => {
    const sent = call()
    sent.end()
    const [response] = await once(sent, 'response')
    return response
  }
  return {
    ...time,
    source,
    failures,
    port,
    call,
    answer,
    settled: settled.promise,
    [Symbol.asyncDispose]: async () => {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}

const nextChunk = async (response: IncomingMessage): Promise<string> => String((await once(response, 'data'))[0])

describe('sending a stream', () => {
  it('sends every chunk, with the headers of a stream and the given ones', async () => {
    await using fixture = await createFixture()
    for (const text of ['a', 'END']) fixture.source.give(text)
    fixture.source.finish()
    const response = await fixture.answer()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.equal(response.headers['cache-control'], 'no-cache, no-transform')
    assert.equal(response.headers['x-accel-buffering'], 'no')
    assert.equal(response.headers['request-id'], 'req_1')
    assert.equal(response.headers['x-request-id'], 'req_1')
    assert.equal(await readAll(response), 'data: a\n\ndata: END\n\n')
    await fixture.settled
    assert.deepEqual([fixture.failures, fixture.source.returns(), fixture.waiting()], [[], 0, 0])
  })

  it('keeps multi-byte characters intact, also for an HTTP/1.0 caller', async () => {
    await using fixture = await createFixture()
    fixture.source.give('naïve 日本')
    fixture.source.give('END')
    fixture.source.finish()
    const text = 'data: naïve 日本\n\ndata: END\n\n'
    assert.equal(await readAll(await fixture.answer()), text)

    await using older = await createFixture()
    older.source.give('naïve 日本')
    older.source.give('END')
    older.source.finish()
    const socket = connect(older.port, '127.0.0.1').end('GET / HTTP/1.0\r\n\r\n')
    const [, body] = Buffer.concat(await Array.fromAsync(socket))
      .toString()
      .split('\r\n\r\n')
    assert.equal(body, text)
  })

  it('keeps the order of long and short texts', async () => {
    await using fixture = await createFixture()
    const texts = ['a', 'b'.repeat(5_000), 'c', 'd'.repeat(100_000), 'e', 'END']
    for (const text of texts) fixture.source.give(text)
    fixture.source.finish()
    assert.equal(await readAll(await fixture.answer()), texts.map((text) => `data: ${text}\n\n`).join(''))
  })

  it('delays a pipelined response until the one before it has ended', async () => {
    const [quickBegan, slowEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    async function* slow(): AsyncGenerator<Chunk, void> {
      yield chunkOf('slow 1')
      await quickBegan.promise
      yield* ['slow 2', 'END'].map(chunkOf)
      slowEnded.resolve()
    }
    async function* quick(): AsyncGenerator<Chunk, void> {
      yield chunkOf('quick 1')
      quickBegan.resolve()
      await slowEnded.promise
      yield* ['quick 2', 'END'].map(chunkOf)
    }
    const app = Fastify()
    const { clock } = createHandClock()
    for (const [path, chunks] of Object.entries({ '/slow': slow, '/quick': quick })) {
      app.get(path, async (_request, reply) => {
        await sendStream(reply, { chunks: chunks(), writer: createPlainWriter(), headers: {}, clock })
        return reply
      })
    }
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\nGET /quick HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    const text = Buffer.concat(await Array.fromAsync(socket)).toString()
    assert.deepEqual(text.match(/data: .*/g), [
      'data: slow 1',
      'data: slow 2',
      'data: END',
      'data: quick 1',
      'data: quick 2',
      'data: END',
    ])
    await app.close()
  })

  it('answers a failure before the first chunk with an HTTP status', async () => {
    await using fixture = await createFixture()
    fixture.source.break(new Fault('upstream_failed', 'upstream_error', 'No.'))
    const response = await fixture.answer()
    assert.deepEqual([response.statusCode, await readAll(response)], [502, 'error'])
  })

  it('answers a source without any chunk with an HTTP status', async () => {
    await using fixture = await createFixture()
    fixture.source.finish()
    assert.equal((await fixture.answer()).statusCode, 502)
  })

  it('sends a later failure as an event of the dialect, and ends the response', async () => {
    await using fixture = await createFixture()
    const fault = new Fault('upstream_timeout', 'upstream_timeout', 'Too slow.')
    fixture.source.give('a')
    fixture.source.break(fault)
    assert.equal(await readAll(await fixture.answer()), 'data: a\n\ndata: failed with upstream_timeout\n\n')
    assert.deepEqual(fixture.failures, [fault])
  })

  it('hides the details of an internal error from the caller, and stops the source', async () => {
    await using fixture = await createFixture()
    fixture.source.give('a')
    fixture.source.give('BUG')
    assert.equal(await readAll(await fixture.answer()), 'data: a\n\ndata: failed with internal_error\n\n')
    assert.equal(fixture.source.returns(), 1)
  })

  it('ends with an error if the source stops before the end of the answer', async () => {
    await using fixture = await createFixture()
    fixture.source.give('a')
    fixture.source.finish()
    assert.equal(await readAll(await fixture.answer()), 'data: a\n\ndata: failed with upstream_error\n\n')
  })

  it('ends the response without waiting for the source to finish', async () => {
    await using fixture = await createFixture()
    fixture.source.give('END')
    const response = await fixture.answer()
    assert.equal(await readAll(response), 'data: END\n\n')
    fixture.source.finish()
    await fixture.settled
    assert.deepEqual(fixture.failures, [])
  })

  it('sends a keep-alive comment when idle, with one timer for the whole stream', async () => {
    await using fixture = await createFixture()
    fixture.source.give('a')
    const response = await fixture.answer()
    assert.equal(await nextChunk(response), 'data: a\n\n')
    fixture.advance(10_000)
    fixture.source.give('b')
    assert.equal(await nextChunk(response), 'data: b\n\n')
    assert.equal(fixture.waiting(), 1)
    fixture.advance(5_000) // the timer is due, but there was a write since
    fixture.advance(10_000)
    assert.equal(await nextChunk(response), ': k\n\n')
    fixture.advance(15_000)
    assert.equal(await nextChunk(response), ': k\n\n')
    assert.equal(fixture.waiting(), 1)
  })

  it('stops at once when the caller disconnects, even if the source is stuck', async () => {
    await using fixture = await createFixture()
    fixture.source.give('a')
    const call = fixture.call()
    call.on('error', () => {})
    call.end()
    await once(call, 'response')
    call.destroy()
    await fixture.settled
    assert.equal(fixture.source.returns(), 1)
    assert.deepEqual(fixture.failures, [])
    assert.equal(fixture.waiting(), 0)
  })

  it('stops when the caller disconnects before the first chunk', async () => {
    await using fixture = await createFixture()
    const call = fixture.call()
    call.on('error', () => {})
    call.end()
    await fixture.source.polled
    call.destroy()
    await fixture.settled
    assert.equal(fixture.source.returns(), 1)
  })

  it('ignores a source that fails to release its resources', async () => {
    await using fixture = await createFixture()
    const broken = new Error('disposal')
    fixture.source.iterator.return = () => Promise.reject(broken)
    fixture.source.give('a')
    fixture.source.give('BUG')
    assert.match(await readAll(await fixture.answer()), /internal_error/)
    assert.equal(fixture.failures.at(-1), broken)
  })

  it('writes no faster than the caller reads, and disconnects a caller that never reads', async () => {
    await using fixture = await createFixture()
    const large = 'x'.repeat(4 * 1024 * 1024)
    let taken = 0
    const next = fixture.source.iterator.next
    fixture.source.iterator.next = () => {
      taken += 1
      return next()
    }
    for (let count = 0; count < 20; count++) fixture.source.give(large)
    const response = await fixture.answer()
    response.pause()
    while (fixture.waiting() < 2) await new Promise((resolve) => setImmediate(resolve)) // waiting for the socket to drain
    const takenThen = taken
    assert.ok(takenThen < 20, 'it stopped taking chunks')
    fixture.advance(60_000)
    await fixture.settled
    assert.equal(taken, takenThen)
    assert.deepEqual(
      fixture.failures.map((failure) => failure instanceof Fault && failure.code),
      ['response_not_read'],
    )
  })

  it('continues when a slow caller reads again, and measures only the time in which it waited for the caller', async () => {
    const steps: string[] = []
    const callerWait = { start: () => void steps.push('start'), stop: () => void steps.push('stop') }
    await using fixture = await createFixture({ callerWait })
    const large = 'x'.repeat(4 * 1024 * 1024)
    for (let count = 0; count < 4; count++) fixture.source.give(large)
    fixture.source.give('END')
    fixture.source.finish()
    const response = await fixture.answer()
    while (fixture.waiting() < 2) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(steps.at(-1), 'start')
    const text = await readAll(response)
    assert.equal(text.length, 4 * (large.length + 'data: \n\n'.length) + 'data: END\n\n'.length)
    await fixture.settled
    assert.equal(fixture.waiting(), 0)
    assert.deepEqual(steps.slice(-2), ['start', 'stop'])
  })

  it('measures no wait for a caller while the source has nothing to send', async () => {
    const callerWait = { start: () => assert.fail('it waited for the source'), stop() {} }
    await using fixture = await createFixture({ callerWait })
    const answer = fixture.answer()
    await fixture.source.polled
    fixture.source.give('a')
    fixture.source.give('END')
    fixture.source.finish()
    assert.equal(await readAll(await answer), 'data: a\n\ndata: END\n\n')
  })
})
