import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Dialect } from '../../../src/domain/inference/request.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { failureOf, type Client } from '../client.ts'
import { framesOf, httpKinds, promptOf, refusalPrompt, startScripted, type HttpKind, type Play } from '../scripted.ts'

const timeout = 60_000

/** Only messages has a status of its own for overload. */
const overloadedIn = (dialect: Dialect): number => (dialect === 'messages' ? 529 : 503)

/** What the upstream says, and what the caller is then told. */
const refusals: readonly { readonly upstream: number; readonly told: (dialect: Dialect) => number }[] = [
  { upstream: 400, told: () => 400 },
  { upstream: 401, told: () => 502 },
  { upstream: 404, told: () => 400 },
  { upstream: 429, told: overloadedIn },
  { upstream: 500, told: () => 502 },
  { upstream: 503, told: overloadedIn },
  { upstream: 529, told: overloadedIn },
]

/** Every client is told what went wrong, before the stream and in it, and can leave at any time. */
export function failEverywhere(clients: readonly Client[]): void {
  let scene: Awaited<ReturnType<typeof startScripted>>
  let spentApp: TestApp
  before(async () => {
    scene = await startScripted()
    spentApp = await startSpentApp()
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await spentApp[Symbol.asyncDispose]()
  })
  let count = 0

  for (const client of clients) {
    describe(`${client.name}, refused by the gateway`, { timeout }, () => {
      it('is told of a wrong key', async () => {
        const stranger = { url: scene.app.url, apiKey: 'ak_wrong' }
        const { status } = await failureOf(client.ask(stranger, { model: 'anthropic', text: 'Hello' }))
        assert.equal(status, 401)
      })
      it('is told of an unknown model', async () => {
        const { status } = await failureOf(client.ask(scene.app, { model: 'nothing', text: 'Hello' }))
        assert.equal(status, 404)
      })
      it('is told that it has asked too often', async () => {
        const { status } = await failureOf(client.ask(spentApp, { model: echoModel, text: 'Hello' }))
        assert.equal(status, 429)
      })
    })

    for (const kind of httpKinds) {
      describe(`${client.name}, over ${kind} that goes wrong`, { timeout }, () => {
        for (const { upstream, told } of refusals) {
          it(`is told when the upstream says ${upstream}`, async () => {
            const asking = client.ask(scene.app, { model: kind, text: refusalPrompt(upstream) })
            assert.equal((await failureOf(asking)).status, told(client.dialect))
          })
        }
        for (const fault of ['error', 'cut'] as const) {
          it(`is told when the answer breaks off: ${fault}`, async () => {
            const play: Play = { recording: 'text', form: 'stream', at: middleOf(kind), fault }
            const failure = await failureOf(client.ask(scene.app, { model: kind, text: promptOf(play) }))
            // In a stream there are only words left. Before it, which is where short answers are still held back, some
            // clients show nothing but the status.
            const told = fault === 'cut' ? 502 : overloadedIn(client.dialect)
            if (client.isStreaming && failure.status !== told) assert.match(failure.message, /upstream/)
            else assert.equal(failure.status, told)
          })
        }
        it('stops the upstream by leaving', async () => {
          const play: Play = { recording: 'text', form: 'stream', at: middleOf(kind), fault: 'hold' }
          const text = `${promptOf(play)} #${count++}`
          const aborter = new AbortController()
          const onText = (): void => aborter.abort()
          const asking = client.ask(scene.app, { model: kind, text, signal: aborter.signal, onText })
          const request = await scene.asked(text)
          if (!client.isStreaming) aborter.abort()
          await Promise.allSettled([asking])
          assert.ok(await request.hungUp)
        })
      })
    }
  }
}

const echoModel = 'gatehouse-echo'

/** Its key may ask once a day, and has. */
async function startSpentApp(): Promise<TestApp> {
  const app = await startTestApp({ config: { limits: { tiers: { free: { rpd: 1 } } } } })
  const answer = await app.post('/v1/responses', { model: echoModel, input: 'Hello' })
  assert.equal(answer.status, 200)
  return app
}

/** Some text has been sent by then, and more would come. */
const middleOf = (kind: HttpKind): number => framesOf(kind, 'text').findIndex((frame) => frame.includes('Grüße')) + 1
