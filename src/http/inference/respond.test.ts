import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { FastifyReply } from 'fastify'
import { systemClock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { createLog } from '../../base/log.ts'
import type { Chunk, InferenceEvent } from '../../domain/inference/events.ts'
import type { OperationCall } from '../../pipeline/operation-call.ts'
import { chatOperation } from '../../pipeline/operations/chat.ts'
import type { StartedOperation } from '../../pipeline/started-operation.ts'
import { requestBy } from '../../../test/support/requests.ts'
import type { CallerOf } from '../caller.ts'
import { createServer } from '../server.ts'
import { createInferenceHandler } from './endpoint.ts'
import type { DialectCodec, InferenceParts } from './codec.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { encodeOpenaiFault, OpenaiErrorBody } from './openai-errors.ts'

const limitBytes = 200
const path = '/v1/test'
const delta = (text: string): Chunk => ({ events: [{ type: 'delta', block: 0, text }] })
const textIn = (events: readonly InferenceEvent[]): string =>
  events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
const upstreamFailed = (): Fault => new Fault('upstream_failed', 'upstream_error', 'The upstream failed.')

/** Decodes `{ text, stream }`, and writes an answer as plain text. The text `wrong` cannot be decoded. */
const codec: DialectCodec = {
  operation: chatOperation,
  path,
  decode({ body }) {
    const { text, stream = false } = body as { text: string; stream?: boolean }
    if (text === 'wrong') throw new Fault('validation', 'invalid_parameter', 'text: is wrong', { param: 'text' })
    return { request: requestBy('chat', { stream, messages: [{ role: 'user', parts: [{ type: 'text', text }] }] }) }
  },
  newAnswerId: (ids) => ids('answer'),
  createWriter: () => {
    let hasEnded = false
    return {
      write: textIn,
      forward({ events }) {
        hasEnded = textIn(events) === 'END'
        return textIn(events)
      },
      fail({ code }) {
        hasEnded = true
        return `error event: ${code}`
      },
      hasEnded: () => hasEnded,
    }
  },
  encode: (_context, { events }) => ({ text: textIn(events) }),
}

const unlimited = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }

/** Counts the requests in flight. */
function createCountedInFlight(): { readonly inFlight: InFlight; readonly count: () => number } {
  const real = createInFlight(systemClock)
  let count = 0
  const begin = (reply: FastifyReply) => {
    const begun = real.begin(reply)
    count += 1
    return {
      signal: begun.signal,
      [Symbol.dispose]() {
        count -= 1
        begun[Symbol.dispose]()
      },
    }
  }
  return { inFlight: { ...real, begin }, count: () => count }
}

/** A server with one inference endpoint whose pipeline is this function: it yields the chunks of the answer. */
async function startEndpoint(answer: (call: OperationCall) => AsyncIterable<Chunk>) {
  const calls: OperationCall[] = []
  const counted = { attempts: 0, disposed: 0 }
  const { inFlight, count } = createCountedInFlight()
  const run = async (call: OperationCall): Promise<StartedOperation> => {
    calls.push(call)
    return {
      ...({ model: 'm', upstream: 'up', chunks: answer(call), admission: null } as const),
      dropped: new Set<string>(),
      requiredCoverage: 'held_back',
      bill: {} as StartedOperation['bill'],
      [Symbol.asyncDispose]: async () => void (counted.disposed += 1),
    }
  }
  const callerOf = { principalOrFree: () => ({ kind: 'api_key' }) } as unknown as CallerOf
  const admission: InferenceParts['admission'] = {
    async count() {
      counted.attempts += 1
      return {
        admitted: true,
        duplicate: false,
        atMs: 0,
        credits: null,
        limitStatus: { key: unlimited, project: unlimited, organization: unlimited },
      }
    },
  }
  let ids = 0
  const parts = {
    callerOf,
    run,
    admission,
    inFlight,
    clock: systemClock,
    ids: (prefix: string) => `${prefix}_${ids++}`,
  }
  const server = await createServer({
    ...parts,
    families: [
      {
        name: 'Test',
        description: 'For the test.',
        prefixes: ['/'],
        encodeError: encodeOpenaiFault,
        errorSchema: OpenaiErrorBody,
        routes: [
          {
            ...({ name: 'test', method: 'POST', path, summary: '', credential: 'none', answers: {} } as const),
            body: OpenaiErrorBody,
            bodyLimitBytes: limitBytes,
            handle: createInferenceHandler(parts, codec),
          },
        ],
      },
    ],
    recorder: { began: () => {}, ended: () => {} },
    identify: {},
    log: createLog({ level: 'silent' }),
    bodyMemory: () => undefined,
    proxyHops: 0,
    requestTimeoutMs: 5_000,
    onHalfClose: (socket) => inFlight.halfClosed(socket),
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  return {
    calls,
    counted,
    port,
    inFlightCount: count,
    ended: () => inFlight.ended(),
    post: (body: object) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      await server.close()
    },
  }
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Chunk> {
  for (const text of texts) yield delta(text)
}

async function* failing(...texts: readonly string[]): AsyncGenerator<Chunk> {
  yield* chunks(...texts)
  throw upstreamFailed()
}

const errorOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { error: { code: string } }).error.code

describe('the inference handler', { timeout: 20_000 }, () => {
  it('passes the decoded request to the pipeline once, and encodes the whole answer', async () => {
    await using endpoint = await startEndpoint(() => chunks('Hel', 'lo'))
    const response = await endpoint.post({ text: 'Hi' })
    assert.deepEqual([response.status, await response.json()], [200, { text: 'Hello' }])
    assert.deepEqual(
      endpoint.calls.map(({ operation, request }) => operation.messagesOf(request)),
      [[{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]],
    )
    await endpoint.ended()
    assert.equal(endpoint.counted.disposed, 1)
  })

  it('writes a stream chunk by chunk', async () => {
    await using endpoint = await startEndpoint(() => chunks('Hel', 'lo', 'END'))
    const response = await endpoint.post({ text: 'Hi', stream: true })
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(await response.text(), 'HelloEND')
  })

  it('counts a request that cannot be decoded, and does not run it', async () => {
    await using endpoint = await startEndpoint(() => chunks())
    const response = await endpoint.post({ text: 'wrong' })
    assert.deepEqual([response.status, await errorOf(response)], [400, 'invalid_parameter'])
    assert.deepEqual([endpoint.counted.attempts, endpoint.calls.length], [1, 0])
  })

  for (const stream of [false, true]) {
    it(`answers with an HTTP error if the ${stream ? 'stream' : 'answer'} fails before the first chunk`, async () => {
      await using endpoint = await startEndpoint(() => failing())
      const response = await endpoint.post({ text: 'Hi', stream })
      assert.deepEqual([response.status, await errorOf(response)], [502, 'upstream_error'])
    })
  }

  it('ends a stream with an error event if it fails after the first chunk', async () => {
    await using endpoint = await startEndpoint(() => failing('Hello '))
    const response = await endpoint.post({ text: 'Hi', stream: true })
    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'Hello error event: upstream_error')
  })

  it('answers with an HTTP error if an answer that is not streamed fails in the middle', async () => {
    await using endpoint = await startEndpoint(() => failing('Hello '))
    assert.equal((await endpoint.post({ text: 'Hi' })).status, 502)
  })

  it('rejects a body over the limit of the route before it is decoded', async () => {
    await using endpoint = await startEndpoint(() => chunks('Hello'))
    const fitting = limitBytes - JSON.stringify({ text: '' }).length
    assert.equal((await endpoint.post({ text: 'x'.repeat(fitting) })).status, 200)
    const response = await endpoint.post({ text: 'x'.repeat(fitting + 1) })
    assert.deepEqual([response.status, await errorOf(response)], [413, 'body_too_large'])
    assert.equal(endpoint.calls.length, 1)
  })

  for (const stream of [false, true]) {
    it(`aborts the call when the caller disconnects, ${stream ? 'in a stream' : 'before the answer'}`, async () => {
      const called = Promise.withResolvers<void>()
      const aborted = Promise.withResolvers<void>()
      await using endpoint = await startEndpoint(async function* ({ signal }) {
        signal.addEventListener('abort', () => aborted.resolve())
        if (stream) yield delta('Hello')
        called.resolve()
        await aborted.promise
        throw upstreamFailed()
      })
      const socket = connect(endpoint.port, '127.0.0.1')
      const body = JSON.stringify({ text: 'Hi', stream })
      const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json`
      socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      await (stream ? once(socket, 'data') : called.promise)
      assert.equal(endpoint.inFlightCount(), 1)
      socket.destroy()
      await aborted.promise
      await endpoint.ended()
      assert.deepEqual([endpoint.counted.disposed, endpoint.inFlightCount()], [1, 0])
    })
  }

  for (const [name, answer, body] of [
    ['a whole answer', () => chunks('Hello'), { text: 'Hi' }],
    ['a stream', () => chunks('Hello', 'END'), { text: 'Hi', stream: true }],
    ['a request that cannot be decoded', () => chunks(), { text: 'wrong' }],
    ['an error before the first chunk', () => failing(), { text: 'Hi', stream: true }],
    ['an error in a stream', () => failing('Hello'), { text: 'Hi', stream: true }],
    ['a stream that ends too early', () => chunks('Hello'), { text: 'Hi', stream: true }],
  ] as const) {
    it(`releases the in-flight request and the answer after ${name}`, async () => {
      await using endpoint = await startEndpoint(answer)
      await (await endpoint.post(body)).text()
      await endpoint.ended()
      assert.equal(endpoint.inFlightCount(), 0)
      assert.equal(endpoint.counted.disposed, endpoint.calls.length)
    })
  }
})
