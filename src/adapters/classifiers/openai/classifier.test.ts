import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { createSemaphore } from '../../../base/semaphore.ts'
import { createUpstreamHealth } from '../../../domain/inference/health.ts'
import type { ReceivedResponse, OutgoingRequest } from '../../network/request.ts'
import { createOpenaiClassifier } from './classifier.ts'

const names = ['harassment', 'hate', 'illicit', 'self-harm', 'self-harm/intent', 'sexual', 'sexual/minors', 'violence']

const resultOf = (scores: Record<string, number>, flagged: readonly string[] = []) => ({
  flagged: flagged.length > 0,
  categories: Object.fromEntries(names.map((name) => [name, flagged.includes(name)])),
  category_scores: { ...Object.fromEntries(names.map((name) => [name, 0.001])), ...scores },
})

function sceneOf(answer: (outgoing: OutgoingRequest) => Promise<Partial<ReceivedResponse> & { json?: unknown }>) {
  const { clock, pass } = createHandClock()
  const sent: OutgoingRequest[] = []
  const classifier = createOpenaiClassifier(
    { baseUrl: 'https://moderation.test/v1/', apiKey: () => 'key', model: 'omni-moderation-latest', timeoutMs: 2_000 },
    {
      clock,
      semaphore: createSemaphore(4),
      health: createUpstreamHealth(clock),
      async request(outgoing) {
        sent.push(outgoing)
        const { json, ...response } = await answer(outgoing)
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(json) ?? ''), ...response }
      },
    },
  )
  return { classify: async (text: string) => classifier.classify(text, 'request'), sent, pass }
}

describe('a remote moderation endpoint', () => {
  it('is called with OpenAI’s request format', async () => {
    const { classify, sent } = sceneOf(async () => ({ json: { results: [resultOf({})] } }))
    await classify('Hello \ud800')
    const [{ url, headers, body, method } = {}] = sent
    assert.equal(String(url), 'https://moderation.test/v1/moderations')
    assert.equal(method, 'POST')
    assert.equal(headers?.['authorization'], 'Bearer key')
    assert.deepEqual(JSON.parse(String(body)), { model: 'omni-moderation-latest', input: 'Hello \ufffd' })
  })

  it('is mapped to the gateway’s categories: the highest score of several, and flagged if one of them is', async () => {
    const json = {
      results: [
        resultOf({ 'self-harm': 0.2, 'self-harm/intent': 0.3, violence: 0.99, hate: 0.8 }, [
          'self-harm/intent',
          'violence',
        ]),
      ],
    }
    const { flagged, scores } = await sceneOf(async () => ({ json })).classify('x')
    assert.deepEqual(flagged, ['self-harm'])
    assert.equal(scores['self-harm'], 0.5) // flagged by the vendor: at least 0.5
    assert.equal(scores.hate, 0.49) // not flagged: below 0.5
    assert.equal(scores.illicit, 0.001)
  })

  for (const [title, answer] of [
    ['nothing', { body: Buffer.alloc(0) }],
    ['no JSON', { body: Buffer.from('<html>') }],
    ['an error', { status: 429, json: { error: {} } }],
    ['a redirect', { status: 302 }],
    ['no result', { json: { results: [] } }],
    ['two results', { json: { results: [resultOf({}), resultOf({})] } }],
    ['scores out of range', { json: { results: [{ categories: {}, category_scores: { hate: 7 } }] } }],
    ['no scores', { json: { results: [{ flagged: false, categories: {} }] } }],
    ['a list', { json: [1] }],
  ] as const) {
    it(`fails if it responds ${title}`, async () => {
      await assert.rejects(sceneOf(async () => answer).classify('x'), /classifier failed/)
    })
  }

  it('fails after its timeout', async () => {
    const { classify, pass } = sceneOf(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
    )
    const late = assert.rejects(classify('x'), /in time/)
    await new Promise(setImmediate)
    await pass(2_000)
    await late
  })

  it('is not called for a while after several failures', async () => {
    const { classify, sent, pass } = sceneOf(() => Promise.reject(new Error('down')))
    for (let count = 0; count < 5; count++) await assert.rejects(classify('x'), /classifier failed/)
    assert.equal(sent.length, 3)
    await pass(15_000)
    await assert.rejects(classify('x'))
    assert.equal(sent.length, 4)
  })

  it('stays enabled after it rejects a text', async () => {
    const { classify, sent } = sceneOf(async () => ({ status: 400, json: { error: {} } }))
    for (let count = 0; count < 5; count++) await assert.rejects(classify('x'), /status 400/)
    assert.equal(sent.length, 5)
  })
})
