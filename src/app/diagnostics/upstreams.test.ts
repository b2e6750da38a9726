import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerJson, startUpstream, type Script } from '../../../test/support/upstream.ts'
import { checkConfig } from '../../config/config.ts'
import { checkUpstreams } from './upstreams.ts'

const completion = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' }] }

/** A server that lists these models and gives the same answer to every call. */
const serverWith =
  (models: readonly string[], answer: Script): Script =>
  (response, request) =>
    request.method === 'GET'
      ? answerJson({ object: 'list', data: models.map((id) => ({ id, max_model_len: 4096 })) })(response, request)
      : answer(response, request)

async function check(script: Script, { model = '*', more = {}, isOffline = false, path = '/v1' } = {}) {
  await using upstream = await startUpstream(script)
  const config = checkConfig({
    upstreams: [{ name: 'local', kind: 'openai-chat', base_url: `${upstream.url}${path}` }],
    models: [{ name: model, targets: [{ upstream: 'local' }], max_output_tokens: 100, ...more }],
  })
  const [diagnosis] = await checkUpstreams(config, {}, { isOffline })
  assert.ok(diagnosis)
  return { ...diagnosis, requests: upstream.requests }
}

describe('gatehouse doctor', () => {
  it('asks each upstream for one token, of a model that it lists', async () => {
    const { state, message, requests } = await check(serverWith(['nomic-embed', 'smollm2'], answerJson(completion)))
    assert.deepEqual([state, message], ['ok', 'openai-chat, the model smollm2 answers'])
    const sent = JSON.parse(requests.at(-1)?.body ?? '{}')
    assert.deepEqual([sent.model, sent.max_tokens], ['smollm2', 1])
  })

  it('accepts a Gemini model that spent its one token on thoughts', async () => {
    const thought = { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }] }
    await using upstream = await startUpstream(answerJson(thought))
    const config = checkConfig({
      upstreams: [{ name: 'google', kind: 'gemini', base_url: upstream.url }],
      models: [{ name: 'gemini-2.5-flash', targets: [{ upstream: 'google' }] }],
    })
    const [diagnosis] = await checkUpstreams(config, {}, { isOffline: false })
    assert.deepEqual([diagnosis?.state, diagnosis?.message], ['ok', 'gemini, the model gemini-2.5-flash answers'])
    assert.equal(upstream.requests.at(-1)?.path, '/v1beta/models/gemini-2.5-flash:generateContent')
  })

  it('gives no advice about the version in the address of a vendor that adds it', async () => {
    await using upstream = await startUpstream(answerJson({ error: { code: 500, message: 'broken' } }, 500))
    const config = checkConfig({
      upstreams: [{ name: 'google', kind: 'gemini', base_url: upstream.url }],
      models: [{ name: 'gemini-2.5-flash', targets: [{ upstream: 'google' }] }],
    })
    const [diagnosis] = await checkUpstreams(config, {}, { isOffline: false })
    assert.deepEqual([diagnosis?.state, diagnosis?.fix], ['wrong', 'The log of that server may say more.'])
  })

  it('makes no call with --offline', async () => {
    const { state, message, requests } = await check(answerJson(completion), { isOffline: true })
    assert.deepEqual([state, requests.length], ['ok', 0])
    assert.match(message, /not asked \(--offline\)/)
  })

  it('names the models that there are, if the configured one is missing', async () => {
    const missing = answerJson({ error: { message: 'model "llama3" not found' } }, 404)
    const { state, message, fix } = await check(serverWith(['smollm2', 'qwen3'], missing), { model: 'llama3' })
    assert.deepEqual([state, fix], ['wrong', 'It has: smollm2, qwen3.'])
    assert.match(message, /the model llama3 does not answer: model "llama3" not found/)
  })

  it('says that a server has no models yet', async () => {
    const { state, message, fix } = await check(serverWith([], answerJson(completion)))
    assert.deepEqual([state, message, fix], ['warning', 'it has no models', 'Load or pull a model there.'])
  })

  it('asks for a valid key if the upstream rejects the configured one', async () => {
    const { state, fix } = await check(serverWith(['m'], answerJson({ error: 'no' }, 401)))
    assert.equal(state, 'wrong')
    assert.match(fix ?? '', /Set api_key of local/)
  })

  it('notices a base URL without /v1', async () => {
    const { state, fix } = await check(answerJson({ error: 'not found' }, 404), { model: 'm', path: '' })
    assert.equal(state, 'wrong')
    assert.match(fix ?? '', /base_url usually ends with \/v1: try http:\/\/127\.0\.0\.1:\d+\/v1\./)
  })

  it('warns if the configured output limit does not fit the context of the model', async () => {
    const { state, fix } = await check(serverWith(['m'], answerJson(completion)), { more: { max_output_tokens: 8192 } })
    assert.equal(state, 'warning')
    assert.match(fix ?? '', /context_tokens: 4096/)
  })

  it('reports a server that is not running', async () => {
    const config = checkConfig({
      upstreams: [{ name: 'local', kind: 'openai-chat', base_url: 'http://127.0.0.1:1/v1' }],
      models: [{ name: '*', targets: [{ upstream: 'local' }] }],
    })
    const [diagnosis] = await checkUpstreams(config, {}, { isOffline: false })
    assert.equal(diagnosis?.state, 'wrong')
    assert.match(diagnosis?.message ?? '', /cannot be reached \(ECONNREFUSED\)/)
  })
})
