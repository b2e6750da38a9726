import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { silence, stalledStream, type ReceivedRequest, type Script } from '../support/upstream.ts'

const [first = '', ...rest] = streamFrames(['It is mild there, and often sunny. '.repeat(9)], { input: 9, output: 9 })

/** A caller that can close its sending side and read on. */
function callerOf({ app: { url } }: PaidApp): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  return socket.on('error', () => undefined)
}

function send({ app }: PaidApp, { stream = false, version = '1.1' } = {}): string {
  const json = JSON.stringify({ ...question, stream })
  const head = `POST /v1/messages HTTP/${version}\r\nhost: a\r\nauthorization: Bearer ${app.apiKey}`
  return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`
}

/** Collects everything that the caller reads from now on. */
function collectOutput(caller: Socket) {
  let received = ''
  caller.on('data', (chunk) => (received += String(chunk)))
  const end = once(caller, 'end')
  return {
    async until(expectedText: string): Promise<void> {
      while (!received.includes(expectedText)) await once(caller, 'data')
    },
    async all(): Promise<string> {
      await end
      return received
    },
  }
}

/** An upstream that answers when the test releases it. */
function heldUpstream(answer: Script) {
  const reached = Promise.withResolvers<ReceivedRequest>()
  const released = Promise.withResolvers<void>()
  const script: Script = async (response, request) => {
    reached.resolve(request)
    await released.promise
    await answer(response, request)
  }
  return { script, reached: reached.promise, release: released.resolve }
}

const wholeAnswer = answerWith('It is mild there.', { input: 9, output: 9 })
const streamedAnswer: Script = async (response, request) => {
  await stalledStream(first)(response, request)
  response.end(rest.join(''))
}

describe('a caller that closes its sending side after the request', { timeout: 30_000 }, () => {
  it('gets a whole answer', async () => {
    await using scene = await startPaidApp()
    const { script, reached, release } = heldUpstream(wholeAnswer)
    scene.upstream.answer(script)
    const caller = callerOf(scene)
    const output = collectOutput(caller)
    caller.end(send(scene))
    await reached
    // The server has checked the connection, so it has seen the close by now.
    await output.until('HTTP/1.1 100 Continue')
    release()
    assert.match(await output.all(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK.*It is mild there/s)
  })

  it('gets a whole answer over HTTP/1.0, and nothing before it', async () => {
    await using scene = await startPaidApp()
    const { script, reached, release } = heldUpstream(wholeAnswer)
    scene.upstream.answer(script)
    const caller = callerOf(scene)
    const output = collectOutput(caller)
    caller.end(send(scene, { version: '1.0' }))
    await reached
    release()
    assert.match(await output.all(), /^HTTP\/1\.1 200 OK.*It is mild there/s)
  })

  it('gets a stream from its beginning to its end', async () => {
    await using scene = await startPaidApp()
    const { script, reached, release } = heldUpstream(streamedAnswer)
    scene.upstream.answer(script)
    const caller = callerOf(scene)
    const output = collectOutput(caller)
    caller.end(send(scene, { stream: true }))
    await reached
    await output.until('100 Continue')
    release()
    assert.match(await output.all(), /HTTP\/1\.1 200 OK.*event: message_start.*event: message_stop/s)
  })

  it('gets the rest of a stream that had begun', async () => {
    await using scene = await startPaidApp()
    const resume = Promise.withResolvers<void>()
    scene.upstream.answer(async (response, request) => {
      await stalledStream(first)(response, request)
      await resume.promise
      response.end(rest.join(''))
    })
    const caller = callerOf(scene)
    const output = collectOutput(caller)
    caller.write(send(scene, { stream: true }))
    await output.until('message_start')
    caller.end()
    // The server writes a comment to check that the caller is still connected.
    for (let received = ''; !received.includes(': k\n\n');) received += String(await once(caller, 'data'))
    resume.resolve()
    assert.match(await output.all(), /event: message_stop/)
  })

  it('gets its answer from the administration', async () => {
    await using scene = await startPaidApp()
    const caller = callerOf(scene)
    const output = collectOutput(caller)
    const { adminKey } = scene.app
    caller.end(`GET /v1/organization/usage HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${adminKey}\r\n\r\n`)
    assert.match(await output.all(), /^HTTP\/1\.1 200 OK/)
  })
})

describe('a caller that has disconnected', { timeout: 30_000 }, () => {
  for (const stream of [false, true]) {
    it(`has its upstream stopped before ${stream ? 'a stream begins' : 'a whole answer'}`, async () => {
      await using scene = await startPaidApp()
      const { script, reached } = heldUpstream(silence)
      scene.upstream.answer(script)
      const caller = callerOf(scene)
      caller.write(send(scene, { stream }))
      const { hungUp } = await reached
      caller.destroy()
      assert.equal(await hungUp, true)
    })
  }

  it('has its upstream stopped in the middle of an idle stream', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(stalledStream(first))
    const caller = callerOf(scene)
    caller.write(send(scene, { stream: true }))
    await once(caller, 'data')
    caller.destroy()
    assert.equal(await scene.upstream.requests[0]?.hungUp, true)
  })

  it('has its upstream stopped even if it had closed its sending side long before', async () => {
    const { clock, pass } = createManualTimers(15_000)
    await using scene = await startPaidApp({ clock })
    const { script, reached } = heldUpstream(silence)
    scene.upstream.answer(script)
    const caller = callerOf(scene)
    const output = collectOutput(caller)
    caller.end(send(scene))
    const { hungUp } = await reached
    await output.until('100 Continue')
    caller.destroy()
    pass(15_000)
    assert.equal(await hungUp, true)
  })
})
