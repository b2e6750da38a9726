import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { startTestApp } from '../support/app.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
const body = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }

it('the log line of a request has the trace of its caller, also if the request is rejected', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  {
    await using app = await startTestApp({ log })
    const authorization = `Bearer ${app.apiKey}`
    await app.post('/v1/messages', body, { authorization, traceparent })
    await app.post('/v1/messages', body, { traceparent })
    await app.post('/v1/messages', body, { authorization })
  }
  const requests = lines
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter(({ message, route }) => message === 'request' && route === '/v1/messages')
  assert.deepEqual(
    requests.map(({ status, trace_id: id }) => [status, id]),
    [
      [200, traceId],
      [401, traceId],
      [200, undefined],
    ],
  )
})
