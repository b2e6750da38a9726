import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import type { Script } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

/** Clean text is sent as it arrives. Text near a denial threshold is held back as a whole. */
const messages = [{ role: 'user', content: 'What is the weather like in Paris in May?' }]
const sentence = 'It is mild in May, with some rain and a few warm days. '.repeat(600)
/** More than the buffers of two sockets take. */
const frameCount = 400

const endless: Script = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  const [frame = ''] = streamFrames([sentence])
  const isOver = once(response, 'close')
  for (let count = 0; count < frameCount && !response.destroyed; count++)
    await Promise.race([isOver, new Promise((resolve) => response.write(frame, resolve))])
}

/** A caller that reads the beginning of its stream and then nothing more. */
async function stallingCaller({ app }: PaidApp): Promise<Socket> {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ ...question, max_tokens: 5_000_000, messages, stream: true })
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${app.apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  await once(socket, 'data')
  socket.pause()
  return socket
}

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

type RequestEvent = { readonly message: string; readonly details: { readonly credits_used: number } }

async function requestEvents({ app }: PaidApp): Promise<readonly RequestEvent[]> {
  const headers = { authorization: `Bearer ${app.adminKey}` }
  const answer = await app.get('/v1/organization/audit_logs?kind=gateway.request.decided', headers)
  return ((await answer.json()) as { data: RequestEvent[] }).data
}

async function startScene() {
  const lines: string[] = []
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } })
  const scene = await startPaidApp({
    log,
    config: { credits: { starting: 100_000_000 } },
    modelSettings: { context_tokens: 10_000_000 },
    upstreamSettings: { timeout_ms: 8_000 },
  })
  return { scene, lines }
}

describe('a caller that stops reading its stream until the call times out', () => {
  it('pays for what was sent to it, and is named in the log and the audit event in place of the upstream', async () => {
    const { scene: opened, lines } = await startScene()
    await using scene = opened
    scene.upstream.answer(endless)
    const stall = async (): Promise<void> => {
      const socket = await stallingCaller(scene)
      await Promise.all(scene.upstream.requests.map(({ hungUp }) => hungUp))
      const rest: Buffer[] = []
      socket.on('data', (chunk: Buffer) => void rest.push(chunk))
      socket.resume()
      await once(socket, 'close')
      assert.match(Buffer.concat(rest).toString().slice(-1_000), /response_not_read/)
    }
    await Promise.all([stall(), stall(), stall()])
    await eventually(async () => (await scene.used()).requests === 3)
    const { output, credits, input } = await scene.used()
    assert.ok(output > 1_000, `${output} tokens`)
    assert.equal(credits, input + output)
    assert.equal(await scene.remaining(), 100_000_000 - credits)
    const events = await requestEvents(scene)
    assert.deepEqual(
      events.map(({ message }) => message),
      Array(3).fill('Not answered by paid: response_not_read.'),
    )
    assert.equal(
      events.reduce((sum, { details }) => sum + details.credits_used, 0),
      credits,
    )
    assert.equal(
      lines.some((line) => line.includes('upstream_timeout')),
      false,
    )
    assert.ok(lines.some((line) => line.includes('response_not_read')))
    // Three failures of the upstream would have started its cooldown.
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    assert.equal((await scene.app.post('/v1/messages', question)).status, 200)
    assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
  })
})
