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

/** A source that gives what the test puts in, and remembers how it was treated. */
function createSource() {
  const waiting: PromiseWithResolvers<IteratorResult<Chunk>>[] = []
  const ready: Promise<IteratorResult<Chunk>>[] = []
  const asked = Promise.withResolvers<void>()
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
      asked.resolve()
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
    asked: asked.promise,
    give: (text: string) => settle((step) => step.resolve({ done: false, value: chunkOf(text) })),
    finish: () => settle((step) => step.resolve({ done: true, value: undefined })),
    break: (error: unknown) => settle((step) => step.reject(error)),
    returns: () => returns,
  }
}

const chunkOf = (text: string): Chunk => ({ events: [{ type: 'delta', block: 0, text }] })
const textOf = (event: InferenceEvent | undefined): string => (event?.type === 'delta' ? event.text : '')

/** Writes what a chunk says as it is; `END` ends the answer, `BUG` is a step that no writer takes. */
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
async function createHouse(parts: Parts = {}) {
  const time = createHandClock()
  const source = createSource()
  const failures: unknown[] = []
  const settled = Promise.withResolvers<void>()
  const app = Fastify()
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof Fault ? 502 : 500).send('refused'))
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
  it('sends what comes, with the headers of a stream and those it was given', async () => {
    await using house = await createHouse()
    for (const text of ['a', 'END']) house.source.give(text)
    house.source.finish()
    const response = await house.answer()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.equal(response.headers['cache-control'], 'no-cache, no-transform')
    assert.equal(response.headers['x-accel-buffering'], 'no')
    assert.equal(response.headers['request-id'], 'req_1')
    assert.equal(response.headers['x-request-id'], 'req_1')
    assert.equal(await readAll(response), 'data: a\n\ndata: END\n\n')
    await house.settled
    assert.deepEqual([house.failures, house.source.returns(), house.waiting()], [[], 0, 0])
  })

  it('keeps characters of several bytes whole, also for a caller of the days before chunks', async () => {
    await using house = await createHouse()
    house.source.give('naïve 日本')
    house.source.give('END')
    house.source.finish()
    const text = 'data: naïve 日本\n\ndata: END\n\n'
    assert.equal(await readAll(await house.answer()), text)

    await using older = await createHouse()
    older.source.give('naïve 日本')
    older.source.give('END')
    older.source.finish()
    const socket = connect(older.port, '127.0.0.1').end('GET / HTTP/1.0\r\n\r\n')
    const [, body] = Buffer.concat(await Array.fromAsync(socket))
      .toString()
      .split('\r\n\r\n')
    assert.equal(body, text)
  })

  it('keeps long and short texts in their order', async () => {
    await using house = await createHouse()
    const texts = ['a', 'b'.repeat(5_000), 'c', 'd'.repeat(100_000), 'e', 'END']
    for (const text of texts) house.source.give(text)
    house.source.finish()
    assert.equal(await readAll(await house.answer()), texts.map((text) => `data: ${text}\n\n`).join(''))
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

  it('gives a failure before the first chunk a status of its own', async () => {
    await using house = await createHouse()
    house.source.break(new Fault('upstream_failed', 'upstream_error', 'No.'))
    const response = await house.answer()
    assert.deepEqual([response.statusCode, await readAll(response)], [502, 'refused'])
  })

  it('gives a source without a single chunk a status of its own', async () => {
    await using house = await createHouse()
    house.source.finish()
    assert.equal((await house.answer()).statusCode, 502)
  })

  it('sends a later failure as an event of the dialect, and ends', async () => {
    await using house = await createHouse()
    const fault = new Fault('upstream_timeout', 'upstream_timeout', 'Too slow.')
    house.source.give('a')
    house.source.break(fault)
    assert.equal(await readAll(await house.answer()), 'data: a\n\ndata: failed with upstream_timeout\n\n')
    assert.deepEqual(house.failures, [fault])
  })

  it('tells the caller nothing about an internal error, and stops the source', async () => {
    await using house = await createHouse()
    house.source.give('a')
    house.source.give('BUG')
    assert.equal(await readAll(await house.answer()), 'data: a\n\ndata: failed with internal_error\n\n')
    assert.equal(house.source.returns(), 1)
  })

  it('never lets a source that just stops pass for a complete answer', async () => {
    await using house = await createHouse()
    house.source.give('a')
    house.source.finish()
    assert.equal(await readAll(await house.answer()), 'data: a\n\ndata: failed with upstream_error\n\n')
  })

  it('does not let the caller wait for what the source does after the end', async () => {
    await using house = await createHouse()
    house.source.give('END')
    const response = await house.answer()
    assert.equal(await readAll(response), 'data: END\n\n')
    house.source.finish()
    await house.settled
    assert.deepEqual(house.failures, [])
  })

  it('shows that it is alive after silence, with one timer for the whole stream', async () => {
    await using house = await createHouse()
    house.source.give('a')
    const response = await house.answer()
    assert.equal(await nextChunk(response), 'data: a\n\n')
    house.advance(10_000)
    house.source.give('b')
    assert.equal(await nextChunk(response), 'data: b\n\n')
    assert.equal(house.waiting(), 1)
    house.advance(5_000) // the timer is due, but there was a word in between
    house.advance(10_000)
    assert.equal(await nextChunk(response), ': k\n\n')
    house.advance(15_000)
    assert.equal(await nextChunk(response), ': k\n\n')
    assert.equal(house.waiting(), 1)
  })

  it('stops at once when the caller hangs up, even if the source never answers again', async () => {
    await using house = await createHouse()
    house.source.give('a')
    const call = house.call()
    call.on('error', () => {})
    call.end()
    await once(call, 'response')
    call.destroy()
    await house.settled
    assert.equal(house.source.returns(), 1)
    assert.deepEqual(house.failures, [])
    assert.equal(house.waiting(), 0)
  })

  it('stops when the caller hangs up before the first chunk', async () => {
    await using house = await createHouse()
    const call = house.call()
    call.on('error', () => {})
    call.end()
    await house.source.asked
    call.destroy()
    await house.settled
    assert.equal(house.source.returns(), 1)
  })

  it('ignores a source that fails to release its resources', async () => {
    await using house = await createHouse()
    const broken = new Error('disposal')
    house.source.iterator.return = () => Promise.reject(broken)
    house.source.give('a')
    house.source.give('BUG')
    assert.match(await readAll(await house.answer()), /internal_error/)
    assert.equal(house.failures.at(-1), broken)
  })

  it('writes no faster than the caller reads, and gives up on one who never reads', async () => {
    await using house = await createHouse()
    const large = 'x'.repeat(4 * 1024 * 1024)
    let taken = 0
    const next = house.source.iterator.next
    house.source.iterator.next = () => {
      taken += 1
      return next()
    }
    for (let count = 0; count < 20; count++) house.source.give(large)
    const response = await house.answer()
    response.pause()
    while (house.waiting() < 2) await new Promise((resolve) => setImmediate(resolve)) // waiting for the socket to drain
    const takenThen = taken
    assert.ok(takenThen < 20, 'it stopped taking chunks')
    house.advance(60_000)
    await house.settled
    assert.equal(taken, takenThen)
    assert.deepEqual(
      house.failures.map((failure) => failure instanceof Fault && failure.code),
      ['response_not_read'],
    )
  })

  it('goes on when a slow caller reads again', async () => {
    await using house = await createHouse()
    const large = 'x'.repeat(4 * 1024 * 1024)
    for (let count = 0; count < 4; count++) house.source.give(large)
    house.source.give('END')
    house.source.finish()
    const response = await house.answer()
    while (house.waiting() < 2) await new Promise((resolve) => setImmediate(resolve))
    const text = await readAll(response)
    assert.equal(text.length, 4 * (large.length + 'data: \n\n'.length) + 'data: END\n\n'.length)
    await house.settled
    assert.equal(house.waiting(), 0)
  })
})
