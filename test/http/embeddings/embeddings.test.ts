import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI, { APIError } from 'openai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { spanNamed, startOtlpReceiver } from '../../support/otlp-receiver.ts'
import { startPaidApp } from '../../support/paid-app.ts'
import { answerJson, startUpstream, type Script } from '../../support/upstream.ts'

const path = '/v1/embeddings'
const model = 'gatehouse-echo'
const crisis = 'I want to kill myself tonight.'

const clientOf = ({ url, apiKey }: TestApp) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

type Embeddings = {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[]
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number }
  readonly estimated_credits_used: number
  readonly remaining_credits: number
  readonly policy?: { readonly decision: string }
}

type Failure = { readonly error: { readonly param: string | null; readonly code: string; readonly message: string } }

const failureOf = async (response: Response): Promise<readonly [number, string | null, string]> => {
  const { error } = (await response.json()) as Failure
  return [response.status, error.param, error.code]
}

/** An upstream's answer with one vector for each input; `[1, 0.5]`, `[2, 0.5]` and so on. */
const vectors =
  (encode: (vector: readonly number[]) => unknown = (vector) => vector): Script =>
  (response, request) => {
    const { input } = JSON.parse(request.body) as { input: readonly string[] }
    const data = input.map((_, index) => ({ object: 'embedding', index, embedding: encode([index + 1, 0.5]) }))
    const usage = { prompt_tokens: 7, total_tokens: 7 }
    // In reverse, because clients rely on the index.
    return answerJson({ object: 'list', data: data.toReversed(), model: 'upstream-model', usage })(response, request)
  }

const toBase64 = (vector: readonly number[]): string => Buffer.from(new Float32Array(vector).buffer).toString('base64')

describe('the embeddings endpoint', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app[Symbol.asyncDispose]())

  it('serves the official client, which asks for base64 and decodes it', async () => {
    const answer = await clientOf(app).embeddings.create({ model, input: ['one', 'two'], dimensions: 8 })
    assert.deepEqual(
      answer.data.map(({ index, object, embedding }) => [index, object, embedding.length]),
      [
        [0, 'embedding', 8],
        [1, 'embedding', 8],
      ],
    )
    assert.equal(answer.model, model)
    assert.equal(answer.object, 'list')
    assert.ok(answer.usage.prompt_tokens > 0)
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens)
  })

  it('returns the same vectors as numbers and in base64', async () => {
    const floats = await clientOf(app).embeddings.create({ model, input: 'one', encoding_format: 'float' })
    const decoded = await clientOf(app).embeddings.create({ model, input: 'one' })
    assert.deepEqual(floats.data, decoded.data)
    const raw = (await (await app.post(path, { model, input: 'one', encoding_format: 'base64' })).json()) as Embeddings
    assert.equal(typeof raw.data[0]?.embedding, 'string')
    const length = Math.hypot(...(floats.data[0]?.embedding ?? []))
    assert.ok(Math.abs(length - 1) < 1e-6)
  })

  it('embeds tokens as the text that they stand for', async () => {
    const create = async (input: unknown): Promise<unknown> =>
      ((await (await app.post(path, { model, input, dimensions: 4 })).json()) as Embeddings).data
    const hello = await create(['hello world', 'hello'])
    assert.deepEqual(await create([[15339, 1917], [15339]]), hello)
    assert.deepEqual(await create([15339, 1917]), await create('hello world'))
  })

  it('rejects an input that it does not accept, and names the field', async () => {
    const reject = async (input: unknown, fields: object = {}) =>
      failureOf(await app.post(path, { model, input, ...fields }))
    const invalid = (param: string) => [400, param, 'invalid_parameter']
    assert.deepEqual(await reject(''), invalid('input'))
    assert.deepEqual(await reject([]), invalid('input'))
    assert.deepEqual(await reject(['a', '']), invalid('input[1]'))
    assert.deepEqual(await reject(Array.from({ length: 2049 }, () => 'a')), invalid('input'))
    assert.deepEqual(await reject(['a', 'word '.repeat(9000)]), invalid('input[1]'))
    assert.deepEqual(await reject('word '.repeat(9000)), invalid('input'))
    assert.deepEqual(await reject(Array.from({ length: 8193 }, () => 1)), invalid('input'))
    assert.deepEqual(await reject([[15339], [2_000_000]]), invalid('input[1]'))
    assert.deepEqual(await reject(['a', 1]), invalid('input[1]'))
    assert.deepEqual(await reject('a', { dimensions: 0 }), invalid('dimensions'))
    const many = Array.from({ length: 2048 }, () => 'a')
    assert.deepEqual(await reject(many, { dimensions: 513 }), invalid('dimensions'))
    assert.deepEqual(await reject(many, { dimensions: 4097, encoding_format: 'base64' }), invalid('dimensions'))
    assert.deepEqual(await reject('a', { encoding_format: 'hex' }), invalid('encoding_format'))
  })

  it('accepts a long text within the limit', async () => {
    const { status } = await app.post(path, { model, input: 'word '.repeat(8000), dimensions: 2 })
    assert.equal(status, 200)
  })

  it('names fields that no upstream gets', async () => {
    const response = await app.post(path, { model, input: 'a', input_type: 'query', 'a\r\nb': 'c' })
    assert.equal(response.headers.get('x-gatehouse-dropped'), 'input_type')
  })

  it('denies a request if an always blocked category is in one of its inputs', async () => {
    const input = ['one', 'two', crisis, 'four', 'five']
    await assert.rejects(clientOf(app).embeddings.create({ model, input }), (error) => {
      assert.ok(error instanceof APIError)
      assert.deepEqual([error.status, error.code], [400, 'moderation_blocked'])
      return true
    })
  })

  it('denies tokens of a text that is denied', async () => {
    // "I want to kill myself tonight."
    const tokens = [40, 1390, 311, 5622, 7182, 18396, 13]
    assert.deepEqual(await failureOf(await app.post(path, { model, input: tokens })), [400, null, 'moderation_blocked'])
  })

  it('rejects an unknown model and a missing key', async () => {
    assert.deepEqual(await failureOf(await app.post(path, { model: 'none', input: 'a' })), [
      404,
      'model',
      'model_not_found',
    ])
    assert.deepEqual(await failureOf(await app.post(path, { model, input: 'a' }, {})), [401, null, 'invalid_api_key'])
  })

  it('is the free request of a client without a key', async () => {
    const free = { 'x-free-tier': 'true' }
    const first = await app.post(path, { model, input: 'a' }, free)
    assert.equal(first.status, 200)
    assert.equal(((await first.json()) as Embeddings).remaining_credits, null)
    assert.deepEqual((await failureOf(await app.post(path, { model, input: 'a' }, free)))[0], 401)
  })

  it('is recorded with its operation in the audit log, and the list of requests shows it', async () => {
    const response = await app.post(path, { model, input: ['one', 'two'], user: 'ada' })
    const id = response.headers.get('x-request-id') ?? ''
    await response.text()
    const admin = { authorization: `Bearer ${app.adminKey}` }
    const request = (await (await app.get(`/v1/organization/requests/${id}`, admin)).json()) as Record<string, unknown>
    const { operation, dialect, model: name, stream, user_id: user, output_tokens: output, status } = request
    assert.deepEqual(
      { operation, dialect, name, stream, user, output, status },
      { operation: 'embeddings', dialect: null, name: model, stream: false, user: 'ada', output: 0, status: 'ok' },
    )
  })
})

describe('embeddings of an upstream', () => {
  for (const kind of ['openai-chat', 'openai-responses'])
    for (const [form, encode] of [
      ['numbers', (vector: readonly number[]): unknown => vector],
      ['base64', toBase64],
    ] as const)
      it(`come from an upstream of kind ${kind} that sends ${form}, in the order of the inputs`, async () => {
        await using upstream = await startUpstream(vectors(encode))
        await using app = await startTestApp({
          config: {
            upstreams: [{ name: 'up', kind, base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' }],
            models: [{ name: 'embed', targets: [{ upstream: 'up', model: 'upstream-model' }] }],
          },
        })
        const client = clientOf(app)
        const create = { model: 'embed', input: ['a', 'b'], dimensions: 2, user: 'ada' }
        for (const encoding_format of ['float', 'base64', undefined] as const) {
          const answer = await client.embeddings.create({ ...create, ...(encoding_format && { encoding_format }) })
          const wanted = [
            [1, 0.5],
            [2, 0.5],
          ]
          const received = answer.data.map(({ embedding }) => embedding as readonly number[] | string)
          assert.deepEqual(received, encoding_format === 'base64' ? wanted.map(toBase64) : wanted)
          assert.deepEqual(answer.usage, { prompt_tokens: 7, total_tokens: 7 })
        }
        const [sent] = upstream.requests
        assert.equal(sent?.path, '/v1/embeddings')
        assert.equal(sent.headers.authorization, 'Bearer sk-upstream')
        assert.deepEqual(JSON.parse(sent.body), {
          model: 'upstream-model',
          input: ['a', 'b'],
          encoding_format: 'base64',
          dimensions: 2,
          user: 'ada',
        })
      })

  it('fall back to the next target, and fail as an upstream error if none answers', async () => {
    await using first = await startUpstream(answerJson({ error: { message: 'broken' } }, 500))
    await using second = await startUpstream(vectors(), answerJson({ data: [] }))
    await using app = await startTestApp({
      config: {
        upstreams: [
          { name: 'first', kind: 'openai-chat', base_url: `${first.url}/v1` },
          { name: 'second', kind: 'openai-chat', base_url: `${second.url}/v1` },
        ],
        models: [{ name: 'embed', targets: [{ upstream: 'first' }, { upstream: 'second' }] }],
      },
    })
    assert.equal((await app.post(path, { model: 'embed', input: 'a' })).status, 200)
    assert.equal(first.requests.length, 1)
    const failed = await app.post(path, { model: 'embed', input: 'a' })
    assert.deepEqual(await failureOf(failed), [502, null, 'upstream_error'])
  })

  it('are charged by the tokens that the upstream reports, and by nothing if a rule denies them', async () => {
    await using paid = await startPaidApp({ modelSettings: { operations: ['embeddings'] } })
    paid.upstream.answer(vectors())
    const balance = await paid.remaining()
    const response = await paid.app.post(path, { model: 'paid', input: ['a', 'b'] })
    const answer = (await response.json()) as Embeddings
    assert.equal(answer.estimated_credits_used, 7)
    assert.equal(answer.remaining_credits, balance - 7)
    assert.equal(await paid.remaining(), balance - 7)
    assert.ok(response.headers.get('x-ratelimit-limit-requests') !== undefined)
    const denied = await paid.app.post(path, { model: 'paid', input: ['a', crisis] })
    assert.equal((await failureOf(denied))[2], 'moderation_blocked')
    assert.equal(paid.upstream.requests.length, 1)
    assert.equal(await paid.remaining(), balance - 7)
    const { requests, input, output, credits } = await paid.used()
    assert.deepEqual({ requests, input, output, credits }, { requests: 1, input: 7, output: 0, credits: 7 })
    const text = await (await paid.app.get('/metrics')).text()
    assert.match(text, /gatehouse_requests_total\{dialect="embeddings",model="paid",outcome="answered"\} 1/)
    assert.match(text, /gatehouse_requests_total\{dialect="embeddings",model="paid",outcome="denied"\} 1/)
  })

  it('need credits for their input', async () => {
    await using paid = await startPaidApp({ config: { credits: { starting: 1 } } })
    paid.upstream.answer(vectors())
    const response = await paid.app.post(path, { model: 'paid', input: 'a text of more than one token' })
    assert.deepEqual(await failureOf(response), [402, null, 'insufficient_credits'])
    assert.equal(paid.upstream.requests.length, 0)
  })

  it('count against the token limits with their input', async () => {
    const limits = { rpm: 100, rpd: 100, tpm: 20, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
    await using app = await startTestApp({ config: { limits: { tiers: { free: limits } } } })
    const input = 'x'.repeat(50)
    assert.equal((await app.post(path, { model, input })).status, 200)
    const limited = await app.post(path, { model, input })
    assert.deepEqual(await failureOf(limited), [429, null, 'rate_limit_exceeded'])
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
  })

  it('are named in traces', async (t) => {
    const collector = await startOtlpReceiver(t)
    {
      await using app = await startTestApp({ config: { traces: { endpoint: collector.origin, content: true } } })
      await (await app.post(path, { model, input: 'Write to ada@example.com' })).text()
    }
    const call = spanNamed(collector.spans(), `embeddings ${model}`)
    assert.equal(call.attributes['gen_ai.operation.name'], 'embeddings')
    assert.equal(call.attributes['gen_ai.usage.output_tokens'], 0)
    const messages = String(call.attributes['gen_ai.input.messages'])
    assert.ok(messages.includes('Write to') && !messages.includes('ada@example.com'))
  })
})

describe('a rule on embeddings', () => {
  const configurationPath = '/api/policy-gateway/config'
  const configured = async (app: TestApp, rules: object): Promise<void> => {
    const saved = await app.post(configurationPath, { config: { policy_id: 'house', rules } })
    assert.equal(saved.status, 200)
  }

  it('denies a term of the gateway configuration in any input', async () => {
    await using app = await startTestApp()
    await configured(app, { denylist: ['project falcon'] })
    const denied = await app.post(path, { model, input: ['a', 'About Project Falcon'] })
    assert.deepEqual(await failureOf(denied), [400, null, 'policy_blocked'])
    assert.equal((await app.post(path, { model, input: ['a', 'About birds'] })).status, 200)
  })

  it('redacts personal data before the upstream gets it', async () => {
    await using upstream = await startUpstream(vectors())
    await using app = await startTestApp({
      config: {
        upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [{ name: 'embed', targets: [{ upstream: 'up' }] }],
      },
    })
    await configured(app, { redact: true })
    const answer = await app.post(path, { model: 'embed', input: ['a', 'Write to ada@example.com'] })
    assert.equal(((await answer.json()) as Embeddings).data.length, 2)
    const { input } = JSON.parse(upstream.requests[0]?.body ?? '') as { input: readonly string[] }
    assert.deepEqual(input, ['a', 'Write to [EMAIL_1]'])
  })

  it('denies by a published policy, and the answer of a monitored one names it', async () => {
    await using app = await startTestApp()
    const admin = { authorization: `Bearer ${app.adminKey}` }
    const policies = '/v1/organization/policies'
    const publish = async (rule: string, mode: string): Promise<void> => {
      const draft = { name: rule, rule, mode, direction: 'request' }
      const { id, revision } = (await (await app.post(policies, draft, admin)).json()) as {
        id: string
        revision: number
      }
      assert.equal((await app.post(`${policies}/${id}/publish`, { revision }, admin)).status, 200)
    }
    await publish('cel: text.contains("falcon")', 'enforcing')
    await publish('cel: text.contains("heron")', 'monitoring')
    assert.deepEqual(await failureOf(await app.post(path, { model, input: ['a', 'a falcon'] })), [
      400,
      null,
      'policy_blocked',
    ])
    const monitored = (await (await app.post(path, { model, input: ['a', 'a heron'] })).json()) as Embeddings
    assert.equal(monitored.policy?.decision, 'refuse')
  })
})

describe('the operations of a model', () => {
  const upstreams = [
    { name: 'claude', kind: 'anthropic', base_url: 'http://127.0.0.1:9' },
    { name: 'echo', kind: 'echo' },
  ]

  it('decide which requests may name it', async () => {
    await using app = await startTestApp({
      config: {
        upstreams,
        models: [
          { name: 'embed', targets: [{ upstream: 'echo' }], operations: ['embeddings'] },
          { name: 'talk', targets: [{ upstream: 'echo' }], operations: ['chat'] },
          { name: 'claude', targets: [{ upstream: 'claude' }] },
        ],
      },
    })
    const messages = [{ role: 'user', content: 'Hi' }]
    const rejected = [400, 'model', 'invalid_parameter']
    assert.deepEqual(await failureOf(await app.post('/v1/chat/completions', { model: 'embed', messages })), rejected)
    assert.deepEqual(await failureOf(await app.post(path, { model: 'talk', input: 'a' })), rejected)
    assert.deepEqual(await failureOf(await app.post(path, { model: 'claude', input: 'a' })), rejected)
    assert.equal((await app.post(path, { model: 'embed', input: 'a' })).status, 200)
    assert.equal((await app.post('/v1/chat/completions', { model: 'talk', messages })).status, 200)
  })

  it('are a mistake in the configuration if an upstream does not have them', async () => {
    const models = [{ name: 'embed', targets: [{ upstream: 'claude' }], operations: ['embeddings'] }]
    await assert.rejects(
      startTestApp({ config: { upstreams, models } }),
      /models\[0\]\.targets\[0\]\.upstream: claude has no embeddings/,
    )
  })
})
