import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { inferenceEndpoints, send, type InferenceEndpoint } from '../support/inference-endpoints.ts'
import { framesFor, kinds } from '../support/long-answers.ts'
import { cutStream, startUpstream, type TestUpstream } from '../support/upstream.ts'

const errorMarks = { messages: /"type":"error"/, responses: /"response\.failed"/, chat: /"error":\{.*\[DONE\]/s }

describe('a stream that its upstream breaks off right after the first text', () => {
  const upstreams: TestUpstream[] = []
  let app: TestApp
  before(async () => {
    const configured = []
    for (const kind of kinds) {
      const { first, delta } = framesFor[kind]
      const upstream = await startUpstream(cutStream(first + delta('It is mild in May')))
      upstreams.push(upstream)
      configured.push({ name: kind, kind, base_url: kind === 'anthropic' ? upstream.url : `${upstream.url}/v1` })
    }
    const models = kinds.map((kind) => ({ name: kind, targets: [{ upstream: kind }] }))
    app = await startTestApp({ config: { upstreams: configured, models } })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    for (const upstream of upstreams) await upstream[Symbol.asyncDispose]()
  })

  for (const kind of kinds)
    for (const dialect of ['messages', 'responses', 'chat'] as const) {
      const endpoint: InferenceEndpoint = inferenceEndpoints[dialect]

      it(`has the text and then the error for a caller of ${dialect} at ${kind}`, async () => {
        const body = endpoint.bodyOf('What is the weather like in May?', { model: kind, stream: true })
        const { status, text } = await send(app, endpoint, { body })
        assert.equal(status, 200, text)
        assert.match(text, /mild in May/)
        assert.match(text, errorMarks[dialect])
      })

      it(`is 502 for a caller of ${dialect} at ${kind} that wants the whole answer`, async () => {
        const body = endpoint.bodyOf('What is the weather like in May?', { model: kind })
        assert.equal((await send(app, endpoint, { body })).status, 502)
      })
    }
})
