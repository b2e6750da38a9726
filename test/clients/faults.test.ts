import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { failureOf, type Client } from './client.ts'
import { newestClients } from './newest.ts'
import { faults, framesOf, httpKinds, promptOf, startScripted, type HttpKind, type Play } from './scripted.ts'

/** Nothing here takes that long; what hangs is ended by it. */
const timeout = 30_000
const recordings = ['text', 'parallel-tools'] as const
const recordedText = 'Grüße, 世界 👋'

describe('an upstream that goes wrong', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())

  const ask = (client: Client, kind: HttpKind, play: Play) =>
    client.ask(scene.app, { model: play.fault === 'silence' ? `${kind}-hasty` : kind, text: promptOf(play) })

  const eachFails = async (client: Client, kind: HttpKind, plays: readonly Play[]): Promise<void> => {
    for (const { message } of await Promise.all(plays.map((play) => failureOf(ask(client, kind, play))))) {
      assert.match(message, plays[0]?.fault === 'silence' ? /sent no data|did not start its response/ : /upstream/)
    }
  }

  for (const client of newestClients) {
    for (const kind of httpKinds) {
      describe(`${client.name}, over ${kind}`, { timeout }, () => {
        it('is no worry when it does not', async () => {
          for (const form of ['stream', 'document'] as const) {
            const told = await ask(client, kind, { recording: 'text', form, at: 99, fault: 'end' })
            assert.equal(told.text, recordedText)
          }
        })
        for (const fault of faults) {
          it(`is seen to fail wherever its stream meets with: ${fault}`, async () => {
            const plays = recordings.flatMap((recording) =>
              placesOf(kind, recording).map((at): Play => ({ recording, form: 'stream', at, fault })),
            )
            await eachFails(client, kind, plays)
          })
          it(`is seen to fail wherever its whole answer meets with: ${fault}`, async () => {
            const plays = [0, 1, 2, 3].map((at): Play => ({ recording: 'parallel-tools', form: 'document', at, fault }))
            await eachFails(client, kind, plays)
          })
        }
      })
    }
  }
})

describe('a chat server that goes wrong after it has given the reason for its end', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())

  const places = framesOf('openai-chat', 'text').keys().drop(placesOf('openai-chat', 'text').length)
  const plays = [...places].flatMap((at) =>
    faults.map((fault): Play => ({ recording: 'text', form: 'stream', at, fault })),
  )

  for (const client of newestClients) {
    it(`has given ${client.name} all of its answer, or is seen to fail`, { timeout }, async () => {
      const asking = plays.map((play) => client.ask(scene.app, { model: 'openai-chat-hasty', text: promptOf(play) }))
      for (const outcome of await Promise.allSettled(asking)) {
        if (outcome.status === 'fulfilled') assert.equal(outcome.value.text, recordedText)
      }
    })
  }
})

describe('a caller who hangs up', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())
  let count = 0

  /** Hangs up when told to, and answers whether the upstream, which would have waited a minute, was let go. */
  const hangUp = async (client: Client, kind: HttpKind, play: Play): Promise<boolean> => {
    const text = `${promptOf(play)} #${count++}`
    const aborter = new AbortController()
    const asking = client.ask(scene.app, {
      model: kind,
      text,
      signal: aborter.signal,
      ...(play.at > 0 && { onText: () => aborter.abort() }),
    })
    const request = await scene.asked(text)
    if (play.at === 0) aborter.abort()
    // Some clients call it an error to be stopped, some an end.
    await Promise.allSettled([asking])
    return request.hungUp
  }

  for (const client of newestClients) {
    for (const kind of httpKinds) {
      it(`stops ${kind} before its answer to ${client.name}`, { timeout }, async () => {
        assert.ok(await hangUp(client, kind, { recording: 'text', form: 'stream', at: 0, fault: 'hold' }))
      })
      if (!client.isStreaming) continue
      it(`stops ${kind} in the middle of its answer to ${client.name}`, { timeout }, async () => {
        const at = placesOf(kind, 'text').length - 1
        assert.ok(await hangUp(client, kind, { recording: 'text', form: 'stream', at, fault: 'hold' }))
      })
    }
  }
})

/** Before each frame that the answer cannot do without. Chat servers have said everything once they have given a reason. */
function placesOf(kind: HttpKind, recording: Play['recording']): number[] {
  const frames = framesOf(kind, recording)
  const last =
    kind === 'openai-chat' ? frames.findIndex((frame) => frame.includes('"finish_reason":"')) : frames.length - 1
  return Array.from({ length: last + 1 }, (_, at) => at)
}
