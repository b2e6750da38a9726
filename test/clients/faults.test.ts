import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { failureOf, type Client } from './client.ts'
import { newestClients } from './newest.ts'
import {
  faults,
  framesOf,
  networkKinds,
  promptOf,
  startScripted,
  type NetworkKind,
  type Play,
} from './scripted-upstream.ts'

/** Ends tests that hang. No test needs that long. */
const timeout = 30_000
const recordings = ['text', 'parallel-tools'] as const
const recordedText = 'Grüße, 世界 👋'

describe('an upstream that fails', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())

  const send = (client: Client, kind: NetworkKind, play: Play) =>
    client.send(scene.app, { model: play.fault === 'silence' ? `${kind}-hasty` : kind, text: promptOf(play) })

  const eachFails = async (client: Client, kind: NetworkKind, plays: readonly Play[]): Promise<void> => {
    for (const { message } of await Promise.all(plays.map((play) => failureOf(send(client, kind, play))))) {
      assert.match(message, plays[0]?.fault === 'silence' ? /sent no data|did not start its response/ : /upstream/)
    }
  }

  for (const client of newestClients) {
    for (const kind of networkKinds) {
      describe(`${client.name}, over ${kind}`, { timeout }, () => {
        it('succeeds without a fault', async () => {
          for (const form of ['stream', 'document'] as const) {
            const response = await send(client, kind, { recording: 'text', form, at: 99, fault: 'end' })
            assert.equal(response.text, recordedText)
          }
        })
        for (const fault of faults) {
          it(`reports an error wherever its stream has the fault: ${fault}`, async () => {
            const plays = recordings.flatMap((recording) =>
              positionsOf(kind, recording).map((at): Play => ({ recording, form: 'stream', at, fault })),
            )
            await eachFails(client, kind, plays)
          })
          it(`reports an error wherever its whole response has the fault: ${fault}`, async () => {
            const plays = [0, 1, 2, 3].map((at): Play => ({ recording: 'parallel-tools', form: 'document', at, fault }))
            await eachFails(client, kind, plays)
          })
        }
      })
    }
  }
})

describe('a chat server that fails after its finish reason', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())

  const positions = framesOf('openai-chat', 'text').keys().drop(positionsOf('openai-chat', 'text').length)
  const plays = [...positions].flatMap((at) =>
    faults.map((fault): Play => ({ recording: 'text', form: 'stream', at, fault })),
  )

  for (const client of newestClients) {
    it(`delivers the complete response to ${client.name}, or an error`, { timeout }, async () => {
      const pending = plays.map((play) => client.send(scene.app, { model: 'openai-chat-hasty', text: promptOf(play) }))
      for (const outcome of await Promise.allSettled(pending)) {
        if (outcome.status === 'fulfilled') assert.equal(outcome.value.text, recordedText)
      }
    })
  }
})

describe('a caller that disconnects', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())
  let count = 0

  /** Disconnects on request. Resolves to whether the upstream call, which would have waited a minute, was cancelled. */
  const hangUp = async (client: Client, kind: NetworkKind, play: Play): Promise<boolean> => {
    const text = `${promptOf(play)} #${count++}`
    const aborter = new AbortController()
    const pending = client.send(scene.app, {
      model: kind,
      text,
      signal: aborter.signal,
      ...(play.at > 0 && { onText: () => aborter.abort() }),
    })
    const request = await scene.receivedRequest(text)
    if (play.at === 0) aborter.abort()
    // Some clients report an abort as an error, some as a normal end.
    await Promise.allSettled([pending])
    return request.hungUp
  }

  for (const client of newestClients) {
    for (const kind of networkKinds) {
      it(`stops ${kind} before its response to ${client.name}`, { timeout }, async () => {
        assert.ok(await hangUp(client, kind, { recording: 'text', form: 'stream', at: 0, fault: 'hold' }))
      })
      if (!client.isStreaming) continue
      it(`stops ${kind} during its response to ${client.name}`, { timeout }, async () => {
        const at = positionsOf(kind, 'text').length - 1
        assert.ok(await hangUp(client, kind, { recording: 'text', form: 'stream', at, fault: 'hold' }))
      })
    }
  }
})

/** The positions before each required frame. A chat response is complete after its finish reason. */
function positionsOf(kind: NetworkKind, recording: Play['recording']): number[] {
  const frames = framesOf(kind, recording)
  const last =
    kind === 'openai-chat' ? frames.findIndex((frame) => frame.includes('"finish_reason":"')) : frames.length - 1
  return Array.from({ length: last + 1 }, (_, at) => at)
}
