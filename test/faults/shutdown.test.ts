import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { text } from 'node:stream/consumers'
import { createLog } from '../../src/base/log.ts'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { stalledStream, type Script } from '../support/upstream.ts'

const harmless = { ...question, messages: [{ role: 'user', content: 'What is the weather like in Paris in May?' }] }
const [first = '', ...rest] = streamFrames(['It is mild there, and often sunny. '.repeat(9)], { input: 9, output: 9 })

/** A connection of a caller that does not close it, like a connection pool. */
function callerOf({ app: { url } }: PaidApp): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  return socket.on('error', () => undefined)
}

function send({ app }: PaidApp, body: object): string {
  const json = JSON.stringify(body)
  const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${app.apiKey}`
  return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`
}

/** Resolves once the caller has read this text. */
async function waitForText(caller: Socket, expectedText: string): Promise<void> {
  for await (const [data] of on(caller, 'data')) if (String(data).includes(expectedText)) return
}

/** Starts a stream, and continues it when the test says so. */
function heldStream(): { script: Script; goOn(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const script: Script = async (response, request) => {
    await stalledStream(first)(response, request)
    await promise
    response.end(rest.join(''))
  }
  return { script, goOn: resolve }
}

/** A caller in the middle of a stream, which continues when the test says so. */
async function startHeldStream(scene: PaidApp) {
  const { script, goOn } = heldStream()
  scene.upstream.answer(script)
  const caller = callerOf(scene)
  const received = text(caller)
  caller.write(send(scene, { ...harmless, stream: true }))
  await once(caller, 'data')
  return { caller, received, goOn }
}

describe('an app that is shutting down', { timeout: 30_000 }, () => {
  it('lets a stream finish, then closes its keep-alive connection', async () => {
    await using scene = await startPaidApp()
    const { received, goOn } = await startHeldStream(scene)
    const drained = scene.app.app.drain()
    goOn()
    await drained
    assert.match(await received, /event: message_stop/)
  })

  it('rejects a new request on a keep-alive connection in the error format of its family', async () => {
    await using scene = await startPaidApp()
    const { caller, received, goOn } = await startHeldStream(scene)
    const drained = scene.app.app.drain()
    goOn()
    await waitForText(caller, 'message_stop')
    caller.write(send(scene, harmless))
    await drained
    assert.match(await received, /HTTP\/1\.1 503 .*"type":"api_error","message":"The service is shutting down\."/s)
    assert.match(await received, /retry-after: 5/)
  })

  it('sends an error to callers that still read after 30 seconds, and does not wait for the others', async () => {
    const { clock, pass } = createManualTimers(30_000)
    await using scene = await startPaidApp({ clock })
    scene.upstream.answer(stalledStream(first))
    const [caller, slow, silent] = [callerOf(scene), callerOf(scene), callerOf(scene)]
    const received = text(caller)
    caller.write(send(scene, { ...harmless, stream: true }))
    slow.write(send(scene, harmless).slice(0, -10))
    silent.write('POST /v1/messages HTTP/1.1\r\nhost:')
    await once(caller, 'data')
    const drained = scene.app.app.drain()
    pass(30_000)
    await waitForText(caller, 'event: error')
    pass(32_000)
    await drained
    assert.match(await received, /event: error\ndata: .*The service is shutting down/)
  })

  it('audits a request whose caller has just left', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    await using scene = await startPaidApp({ log: createLog({ level: 'error', destination }) })
    scene.upstream.answer(stalledStream(first))
    const caller = callerOf(scene)
    caller.write(send(scene, { ...harmless, stream: true }))
    await once(caller, 'data')
    caller.destroy()
    await scene.app.app.drain()
    await scene.app.app[Symbol.asyncDispose]()
    assert.deepEqual(lines, [])
  })

  it('is not ready at once, and still answers new requests during the drain delay', async () => {
    const { clock, pass } = createManualTimers(30_000)
    await using scene = await startPaidApp({ clock, config: { server: { drain_delay_ms: 45_000 } } })
    const { app } = scene
    const drained = app.app.drain()
    const ready = await app.get('/health/ready')
    assert.equal(ready.status, 503)
    assert.deepEqual(await ready.json(), {
      status: 'not_ready',
      failing: [{ part: 'server', problem: 'stopping' }],
    })
    scene.upstream.answer(answerWith('It is mild there.', { input: 9, output: 9 }))
    assert.equal((await app.post('/v1/messages', harmless)).status, 200)
    pass(45_000)
    await drained
    await assert.rejects(app.get('/health/live'))
  })

  it('ends at once at the second signal, even during the drain delay', async () => {
    const { clock } = createManualTimers(30_000)
    await using scene = await startPaidApp({ clock, config: { server: { drain_delay_ms: 45_000 } } })
    const drained = scene.app.app.drain()
    await scene.app.app[Symbol.asyncDispose]()
    await drained
  })

  it('ends at once at the second signal', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(stalledStream(first))
    const caller = callerOf(scene)
    caller.write(send(scene, { ...harmless, stream: true }))
    await once(caller, 'data')
    const drained = scene.app.app.drain()
    await scene.app.app[Symbol.asyncDispose]()
    await drained
  })
})
