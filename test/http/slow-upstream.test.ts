import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { answerWith } from '../support/paid-app.ts'
import { startUpstream, type Script } from '../support/upstream.ts'

const requestBody = { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }

/** Sends only pings, until the connection is closed. */
const pinging: Script = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => response.write(': ping\n\nevent: ping\ndata: {"type": "ping"}\n\n'), 10)
  response.once('close', () => clearInterval(timer))
}

describe('an upstream that only pings', () => {
  it('has not begun to answer, so the next target is called', async () => {
    await using slow = await startUpstream(pinging)
    await using other = await startUpstream(answerWith('From the other.', { input: 5, output: 5 }))
    await using scene = await startTestApp({
      config: {
        upstreams: [
          { name: 'slow', kind: 'anthropic', base_url: slow.url, first_byte_timeout_ms: 100 },
          { name: 'other', kind: 'openai-chat', base_url: `${other.url}/v1` },
        ],
        models: [{ name: 'm', targets: [{ upstream: 'slow' }, { upstream: 'other' }] }],
      },
    })
    const response = await scene.post('/v1/messages', requestBody)
    assert.equal(response.status, 200)
    assert.match(await response.text(), /From the other/)
    assert.equal(await slow.requests[0]?.hungUp, true)
  })
})
