import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from './app.ts'
import {
  inferenceEndpoints,
  send,
  type Exchange,
  type InferenceEndpointName,
  type SendOptions,
} from './inference-endpoints.ts'
import { brokenStream } from './inference-errors.ts'

/** The expected responses of an endpoint to successful requests. */
export type Success = {
  /** The whole response to `Hello`, with its ids and its time left out. */
  readonly whole: object
  /** The names of the events of the same response as a stream. */
  readonly events: readonly string[]
  /** The data of the events that end a stream which failed after its first chunk. */
  readonly failure: readonly (object | string)[]
}

/** Checks every way to get 200 at the endpoint. */
export function describeSuccess(name: InferenceEndpointName, { whole, events, failure }: Success): void {
  const endpoint = inferenceEndpoints[name]
  describe(`POST ${endpoint.path} answers 200 to`, () => {
    let app: TestApp
    before(async () => void (app = await startTestApp()))
    after(() => app[Symbol.asyncDispose]())
    const succeed = async (options?: SendOptions): Promise<Exchange> => {
      const exchange = await send(app, endpoint, options)
      assert.equal(exchange.status, 200, exchange.text)
      return exchange
    }

    it('a request, with the whole response', async () => {
      const { text } = await succeed()
      assert.deepEqual(stable(JSON.parse(text)), whole)
    })

    it('a request with stream: true, with server-sent events', async () => {
      const { headers, text } = await succeed({ body: endpoint.bodyOf('Hello', { stream: true }) })
      assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8')
      assert.deepEqual([...new Set(eventsIn(text).map(({ event }) => event))], events)
    })

    it('a key in x-api-key', async () => {
      await succeed({ headers: { authorization: '', 'x-api-key': app.apiKey } })
    })

    it('the first free request, which costs no credits', async () => {
      const { text } = await succeed({ headers: { authorization: '', 'x-free-tier': 'true' } })
      assert.equal((JSON.parse(text) as Record<string, unknown>)['remaining_credits'], null)
    })

    it('a stream that fails after its first chunk, and ends it with an error event', async () => {
      const { status, text } = await brokenStream(endpoint, async () => app)
      assert.equal(status, 200)
      const data = eventsIn(text).map((each) => each.data)
      const last = data.slice(-failure.length)
      assert.deepEqual(last.map(stable), failure)
    })
  })
}

type ServerSentEvent = { readonly event: string; readonly data: unknown }

const eventsIn = (text: string): ServerSentEvent[] =>
  text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const data = /^data: (.*)$/m.exec(frame)?.[1] ?? ''
      return {
        event: /^event: (.*)$/m.exec(frame)?.[1] ?? 'message',
        data: data === '[DONE]' ? data : JSON.parse(data),
      }
    })

const unstable: ReadonlySet<string> = new Set(['id', 'created', 'created_at', 'request_id', 'sequence_number'])

/** The value without ids and times. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (unstable.has(key) ? [] : [[key, stable(item)]])),
  )
}
