import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CallerFormat } from '../../../src/domain/inference/formats.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { failureOf, type Client } from '../client.ts'
import {
  framesOf,
  httpKinds,
  promptOf,
  refusalPrompt,
  startScripted,
  type HttpKind,
  type Play,
} from '../scripted-upstream.ts'

const timeout = 60_000

/** Only Messages has its own status for overload. */
const overloadedIn = (dialect: CallerFormat): number => (dialect === 'messages' ? 529 : 503)

/** The upstream's status, and the status that the caller gets. */
const upstreamErrors: readonly {
  readonly upstream: number
  readonly expectedStatus: (dialect: CallerFormat) => number
}[] = [
  { upstream: 400, expectedStatus: () => 400 },
  { upstream: 401, expectedStatus: () => 502 },
  { upstream: 404, expectedStatus: () => 400 },
  { upstream: 429, expectedStatus: overloadedIn },
  { upstream: 500, expectedStatus: () => 502 },
  { upstream: 503, expectedStatus: overloadedIn },
  { upstream: 529, expectedStatus: overloadedIn },
]

/** Every client reports errors before and during the stream, and can disconnect at any time. */
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
    describe(`${client.name}, rejected by the gateway`, { timeout }, () => {
      it('reports a wrong key', async () => {
        const wrongKey = { url: scene.app.url, apiKey: 'ak_wrong' }
        const { status } = await failureOf(client.send(wrongKey, { model: 'anthropic', text: 'Hello' }))
        assert.equal(status, 401)
      })
      it('reports an unknown model', async () => {
        const { status } = await failureOf(client.send(scene.app, { model: 'nothing', text: 'Hello' }))
        assert.equal(status, 404)
      })
      it('reports an exceeded rate limit', async () => {
        const { status } = await failureOf(client.send(spentApp, { model: echoModel, text: 'Hello' }))
        assert.equal(status, 429)
      })
    })

    for (const kind of httpKinds) {
      describe(`${client.name}, over ${kind} that fails`, { timeout }, () => {
        for (const { upstream, expectedStatus } of upstreamErrors) {
          it(`reports the upstream status ${upstream}`, async () => {
            const pending = client.send(scene.app, { model: kind, text: refusalPrompt(upstream) })
            assert.equal((await failureOf(pending)).status, expectedStatus(client.dialect))
          })
        }
        for (const fault of ['error', 'cut'] as const) {
          it(`reports an interrupted response: ${fault}`, async () => {
            const play: Play = { recording: 'text', form: 'stream', at: middleOf(kind), fault }
            const failure = await failureOf(client.send(scene.app, { model: kind, text: promptOf(play) }))
            // During a stream only the message is left. Before it, while short responses are still held back, some
            // clients show only the status.
            const expectedStatus = fault === 'cut' ? 502 : overloadedIn(client.dialect)
            if (client.isStreaming && failure.status !== expectedStatus) assert.match(failure.message, /upstream/)
            else assert.equal(failure.status, expectedStatus)
          })
        }
        it('cancels the upstream call by disconnecting', async () => {
          const play: Play = { recording: 'text', form: 'stream', at: middleOf(kind), fault: 'hold' }
          const text = `${promptOf(play)} #${count++}`
          const aborter = new AbortController()
          const onText = (): void => aborter.abort()
          const pending = client.send(scene.app, { model: kind, text, signal: aborter.signal, onText })
          const request = await scene.receivedRequest(text)
          if (!client.isStreaming) aborter.abort()
          await Promise.allSettled([pending])
          assert.ok(await request.hungUp)
        })
      })
    }
  }
}

/** Every client shows the gateway's own message, whatever it does with the status. */
export function showMessagesOfErrors(clients: readonly Client[]): void {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
    const authorization = `Bearer ${app.adminKey}`
    const saved = await app.post('/api/policy-gateway/config', { rules: { denylist: ['falcon'] } }, { authorization })
    assert.equal(saved.status, 200)
  })
  after(() => app[Symbol.asyncDispose]())

  for (const client of clients) {
    const request = { model: echoModel }
    describe(`${client.name}, rejected by the gateway`, { timeout }, () => {
      it('shows why its key was rejected', async () => {
        const wrongKey = { url: app.url, apiKey: 'ak_wrong' }
        const { message } = await failureOf(client.send(wrongKey, { ...request, text: 'Hello' }))
        assert.match(message, /The API key is invalid, expired or revoked\./)
      })
      it('shows which policy denied its request', async () => {
        const { message } = await failureOf(client.send(app, { ...request, text: 'Tell me about the falcon' }))
        assert.match(message, /Denied by the policy default \(REFUSE\)\./)
      })
    })
  }
}

const echoModel = 'gatehouse-echo'

/** A key with a limit of one request per day, which is used up. */
async function startSpentApp(): Promise<TestApp> {
  const app = await startTestApp({ config: { limits: { tiers: { free: { rpd: 1 } } } } })
  const answer = await app.post('/v1/responses', { model: echoModel, input: 'Hello' })
  assert.equal(answer.status, 200)
  return app
}

/** Some text has been sent at this point, and more would follow. */
const middleOf = (kind: HttpKind): number => framesOf(kind, 'text').findIndex((frame) => frame.includes('Grüße')) + 1
