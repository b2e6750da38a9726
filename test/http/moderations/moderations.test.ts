import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI, { APIError } from 'openai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { answerJson, silence, startUpstream } from '../../support/upstream.ts'
import { operatorOf } from '../../support/operator.ts'

const path = '/v1/moderations'
const crisis = 'I want to kill myself tonight.'
const harmless = 'Good morning, how are you?'

const clientOf = ({ url, apiKey }: TestApp) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

describe('the moderation endpoint', () => {
  let scene: TestApp
  before(async () => {
    scene = await startTestApp()
  })
  after(() => scene[Symbol.asyncDispose]())

  it('serves the official client', async () => {
    const { id, model, results } = await clientOf(scene).moderations.create({ input: crisis })
    assert.match(id, /^modr-/)
    assert.equal(model, 'gatehouse-moderation-1')
    const [result] = results
    assert.equal(result?.flagged, true)
    assert.equal(result.categories['self-harm'], true)
    assert.ok(result.category_scores['self-harm'] >= 0.5)
    assert.deepEqual(result.category_applied_input_types['self-harm'], ['text'])
    assert.equal(result.categories.violence, false)
    assert.equal(result.category_scores['harassment/threatening'], 0)
    assert.deepEqual(result.category_applied_input_types.violence, [])
    assert.equal(Object.keys(result.categories).length, 13)
  })

  it('gives each text its own result, and the parts of a message one common result', async () => {
    const client = clientOf(scene)
    const several = await client.moderations.create({
      model: 'omni-moderation-latest',
      input: [harmless, crisis, harmless],
    })
    assert.deepEqual(
      several.results.map(({ flagged }) => flagged),
      [false, true, false],
    )
    const parts = [harmless, crisis].map((text) => ({ type: 'text' as const, text }))
    const together = await client.moderations.create({ input: parts })
    assert.deepEqual(
      together.results.map(({ flagged }) => flagged),
      [true],
    )
  })

  it('rejects images, because it cannot read them', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } }
    const pending = clientOf(scene).moderations.create({ input: [{ type: 'text', text: harmless }, image] })
    await assert.rejects(pending, (error) => {
      assert.ok(error instanceof APIError)
      assert.equal(error.status, 400)
      assert.equal(error.param, 'input[1]')
      assert.match(error.message, /image/)
      return true
    })
  })

  for (const [title, body, param] of [
    ['nothing', {}, 'input'],
    ['a number', { input: 3 }, 'input'],
    ['no texts', { input: [] }, 'input'],
    ['texts and parts together', { input: ['a', { type: 'text', text: 'b' }] }, 'input'],
    ['too many texts', { input: Array.from({ length: 257 }, () => 'a') }, 'input'],
  ] as const) {
    it(`rejects ${title} in the error format of its family`, async () => {
      const answer = await scene.post(path, body)
      assert.equal(answer.status, 400)
      const { error } = (await answer.json()) as { error: { type: string; code: string; param: string } }
      assert.deepEqual([error.type, error.code], ['invalid_request_error', 'invalid_parameter'])
      assert.ok(error.param.startsWith(param), error.param)
    })
  }

  it('rejects unauthenticated requests and bodies that are too large', async () => {
    assert.equal((await scene.post(path, { input: harmless }, {})).status, 401)
    assert.equal((await scene.post(path, { input: 'a'.repeat(2 * 1024 * 1024) })).status, 413)
    assert.equal((await scene.get(path)).status, 405)
  })

  it('costs no credits', async () => {
    const balance = async () => (await operatorOf(scene.app).balance()).remaining_credits
    const full = await balance()
    await scene.post(path, { input: harmless })
    assert.equal(await balance(), full)
  })
})

describe('the moderation endpoint', () => {
  it('counts as a request', async () => {
    const limits = { tiers: { free: { rpm: 2 } } }
    await using scene = await startTestApp({ config: { limits } })
    const statuses = []
    for (let count = 0; count < 3; count++) statuses.push((await scene.post(path, { input: harmless })).status)
    assert.deepEqual(statuses, [200, 200, 429])
  })
})

describe('a second classifier', () => {
  const unsure = 'You people are all the same and I hate you.'
  const classifierResult = (flagged: boolean) => {
    const names = ['harassment', 'hate', 'illicit', 'self-harm', 'sexual', 'sexual/minors']
    return {
      results: [
        {
          flagged,
          categories: Object.fromEntries(names.map((name) => [name, flagged && name === 'hate'])),
          category_scores: Object.fromEntries(names.map((name) => [name, flagged && name === 'hate' ? 0.9 : 0.01])),
        },
      ],
    }
  }

  it('decides the uncertain scores of the first, and its failure does not fail the request', async () => {
    await using remote = await startUpstream(answerJson(classifierResult(true)))
    const classifier = {
      kind: 'openai',
      base_url: `${remote.url}/v1`,
      api_key: 'key',
      model: 'theirs-1',
      timeout_ms: 200,
    }
    await using scene = await startTestApp({ config: { moderation: { classifier } } })
    const client = clientOf(scene)
    const first = await client.moderations.create({ input: unsure })
    assert.equal(first.model, 'theirs-1')
    assert.equal(remote.requests.length, 1, 'the first classifier was not sure of this text')
    assert.equal(first.results[0]?.categories.hate, true)
    remote.answer(answerJson(classifierResult(false)))
    assert.equal((await client.moderations.create({ input: `${unsure} ` })).results[0]?.flagged, false)
    remote.answer(silence)
    assert.equal((await client.moderations.create({ input: `${unsure}  ` })).results[0]?.flagged, false)
    assert.equal((await client.moderations.create({ input: crisis })).results[0]?.flagged, true)
    assert.match(
      await (await scene.get('/metrics')).text(),
      /gatehouse_classifier_calls_total\{result="failed"\} [12]\n/,
    )
  })
})
