import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { spanNamed, startOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { answerWith } from '../support/paid-app.ts'
import { answerJson, startUpstream, type Script, type TestUpstream } from '../support/upstream.ts'

const callerTrace = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpan = '00f067aa0ba902b7'
const sampled = `00-${callerTrace}-${callerSpan}-01`

type Scene = { readonly app: TestApp; readonly upstream: TestUpstream }

type SceneOptions = {
  readonly traces?: object
  readonly upstreamSettings?: object
  readonly config?: object
  readonly answers?: readonly Script[]
}

const answer = answerWith('A plain answer.', { input: 7, output: 5 })
const path = '/v1/chat/completions'
const body = { model: 'm', messages: [{ role: 'user', content: 'Hello, I am ada@example.com' }] }
const broken = answerJson({ error: { message: 'broken' } }, 500)

/** Runs requests against an app that exports traces, and returns the spans that the collector has when it is closed. */
async function trace(
  t: TestContext,
  { traces = {}, upstreamSettings = {}, config = {}, answers = [answer] }: SceneOptions,
  work: (scene: Scene) => Promise<unknown>,
): Promise<{ readonly spans: ReceivedSpan[]; readonly exports: readonly string[] }> {
  const collector = await startOtlpReceiver(t)
  await using upstream = await startUpstream(...answers)
  {
    await using app = await startTestApp({
      config: {
        traces: { endpoint: collector.origin, ...traces },
        upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1`, ...upstreamSettings }],
        models: [{ name: 'm', targets: [{ upstream: 'up', model: 'upstream-model' }] }],
        ...config,
      },
    })
    await work({ app, upstream })
  }
  return { spans: collector.spans(), exports: collector.requests.map(({ text }) => text) }
}

async function send(app: TestApp, headers: Readonly<Record<string, string>> = {}, sent: object = body) {
  const response = await app.post(path, sent, { authorization: `Bearer ${app.apiKey}`, ...headers })
  await response.text()
  return response
}

describe('the trace of a request', () => {
  it('has a span for each of its steps and none of its texts', async (t) => {
    let requestId: string | null = null
    const { spans, exports } = await trace(t, {}, async ({ app }) => {
      requestId = (await send(app)).headers.get('x-request-id')
    })
    assert.deepEqual(
      spans.map(({ name }) => name),
      [`POST ${path}`, 'gatehouse.admit', 'gatehouse.check request', 'chat upstream-model', 'gatehouse.check response'],
    )
    const whole = spanNamed(spans, `POST ${path}`)
    assert.equal(whole.kind, 2)
    assert.equal(whole.parentSpanId, undefined)
    assert.deepEqual(
      [whole.attributes['http.response.status_code'], whole.attributes['gatehouse.request_id']],
      [200, requestId],
    )
    assert.deepEqual([whole.attributes['url.scheme'], whole.attributes['url.path']], ['http', path])
    assert.doesNotMatch(exports.join(), /Hello|plain answer|ada@/)
    for (const span of spans.slice(1)) {
      assert.equal(span.parentSpanId, whole.spanId, span.name)
      assert.equal(span.traceId, whole.traceId, span.name)
      assert.ok(span.startNs >= whole.startNs && span.endNs <= whole.endNs, span.name)
      assert.ok(span.startNs <= span.endNs, span.name)
    }
  })

  it('describes the call to the model by the conventions for generative AI', async (t) => {
    const { spans, exports } = await trace(t, {}, ({ app }) => send(app))
    const { kind, attributes } = spanNamed(spans, 'chat upstream-model')
    const { 'gen_ai.response.time_to_first_chunk': seconds, 'server.port': port, ...rest } = attributes
    assert.equal(kind, 3)
    assert.ok(Number(seconds) > 0 && Number(port) > 0)
    assert.deepEqual(rest, {
      'gatehouse.upstream': 'up',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'up',
      'gen_ai.request.model': 'upstream-model',
      'gen_ai.request.stream': false,
      'gen_ai.response.model': 'paid',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.cache_creation.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'server.address': '127.0.0.1',
    })
    assert.match(exports[0] ?? '', /"schemaUrl":"https:\/\/opentelemetry\.io\/schemas\/gen-ai\/1\.42\.0"/)
    assert.match(exports[0] ?? '', /"key":"service\.name","value":\{"stringValue":"gatehouse"\}/)
  })

  it('has one span for each attempt at an upstream', async (t) => {
    const { spans } = await trace(t, { answers: [broken, answer] }, async ({ app }) =>
      assert.equal((await send(app)).status, 200),
    )
    const calls = spans.filter(({ name }) => name === 'chat upstream-model')
    assert.deepEqual(
      calls.map(({ isError, attributes }) => [isError, attributes['error.type']]),
      [
        [true, 'upstream_error'],
        [false, undefined],
      ],
    )
    assert.ok((calls[0]?.endNs ?? 0n) <= (calls[1]?.startNs ?? 0n))
  })

  it('reports the failure of a request that no upstream answers', async (t) => {
    const { spans } = await trace(t, { answers: [broken] }, async ({ app }) =>
      assert.equal((await send(app)).status, 502),
    )
    const whole = spanNamed(spans, `POST ${path}`)
    assert.equal(whole.isError, true)
    assert.deepEqual(
      [whole.attributes['error.type'], whole.attributes['http.response.status_code']],
      ['upstream_failed', 502],
    )
    assert.equal(spans.filter(({ name }) => name === 'chat upstream-model').length, 2)
  })

  it('reports the limit that rejected a request, and has no later steps', async (t) => {
    const limits = {
      tiers: { free: { rpm: 1, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } } },
    }
    const { spans } = await trace(t, { config: { limits } }, async ({ app }) => {
      await send(app)
      assert.equal((await send(app)).status, 429)
    })
    const rejected = spans.filter(({ name }) => name === `POST ${path}`)[1]
    const inner = spans.filter(({ parentSpanId }) => parentSpanId === rejected?.spanId)
    assert.deepEqual(
      inner.map(({ name }) => name),
      ['gatehouse.admit'],
    )
    const { 'gatehouse.limit.metric': metric, 'gatehouse.limit.remaining': remaining } = inner[0]?.attributes ?? {}
    assert.deepEqual([metric, remaining, rejected?.attributes['error.type']], ['rpm', 0, 'rate_limit'])
  })

  it('names the decision and the event of a denied request, which calls no model', async (t) => {
    const blocked = { ...body, flagged_categories: [], messages: [{ role: 'user', content: 'say the forbidden word' }] }
    const { spans } = await trace(t, {}, async ({ app }) => {
      const admin = { authorization: `Bearer ${app.adminKey}` }
      const rule = { name: 'No such word', rule: 'cel: text.contains("forbidden")', mode: 'enforcing' }
      const draft = (await (await app.post('/v1/organization/policies', rule, admin)).json()) as { id: string }
      await app.post(`/v1/organization/policies/${draft.id}/publish`, { revision: 1 }, admin)
      assert.equal((await send(app, {}, blocked)).status, 400)
    })
    assert.deepEqual(
      spans.map(({ name }) => name),
      [`POST ${path}`, 'gatehouse.admit', 'gatehouse.check request'],
    )
    const check = spanNamed(spans, 'gatehouse.check request')
    assert.equal(check.attributes['gatehouse.decision'], 'refuse')
    assert.equal(check.attributes['gatehouse.policies'], 1)
    assert.match(String(check.attributes['gatehouse.policy_id']), /^pol_/)
    const whole = spanNamed(spans, `POST ${path}`)
    assert.equal(whole.attributes['gatehouse.decision'], 'refuse')
    assert.match(String(whole.attributes['gatehouse.event_id']), /^evt_/)
    assert.equal(whole.isError, false)
  })

  it('has the calls to the judge below their check', async (t) => {
    await using judge = await startUpstream(answerWith('{"score": 0}', { input: 200, output: 8 }))
    await using upstream = await startUpstream(answer)
    const config = {
      upstreams: [
        { name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` },
        { name: 'judge', kind: 'openai-chat', base_url: `${judge.url}/v1` },
      ],
      models: [
        { name: 'm', targets: [{ upstream: 'up', model: 'upstream-model' }] },
        { name: 'judge-model', targets: [{ upstream: 'judge' }] },
      ],
      policies: { judge: { model: 'judge-model' } },
    }
    const { spans } = await trace(t, { config }, async ({ app }) => {
      const admin = { authorization: `Bearer ${app.adminKey}` }
      const rule = { name: 'Polite', rule: 'The text must be polite.', mode: 'enforcing', direction: 'both' }
      const draft = (await (await app.post('/v1/organization/policies', rule, admin)).json()) as { id: string }
      await app.post(`/v1/organization/policies/${draft.id}/publish`, { revision: 1 }, admin)
      assert.equal((await send(app)).status, 200)
    })
    const judged = spans.filter(({ name }) => name === 'chat judge-model')
    const parents = new Set(judged.map(({ parentSpanId }) => parentSpanId))
    const checks = ['request', 'response'].map((direction) => spanNamed(spans, `gatehouse.check ${direction}`).spanId)
    assert.deepEqual(parents, new Set(checks))
    assert.equal(judged.length, judge.requests.length)
    assert.equal(judged[0]?.attributes['gen_ai.usage.input_tokens'], 200)
  })

  it('exists for a streamed answer whose caller disconnects', async (t) => {
    const { spans } = await trace(t, { answers: [streamWithoutEnd] }, async ({ app, upstream }) => {
      const controller = new AbortController()
      const response = await fetch(app.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, stream: true }),
        signal: controller.signal,
      })
      await response.body?.getReader().read()
      controller.abort()
      await upstream.requests[0]?.hungUp
    })
    const whole = spanNamed(spans, `POST ${path}`)
    assert.equal(whole.attributes['error.type'], 'caller_left')
    assert.equal(spanNamed(spans, 'chat upstream-model').attributes['gen_ai.request.stream'], true)
  })
})

describe('the trace of a request whose caller disconnects before the answer begins', () => {
  it('has no status', async (t) => {
    const { spans } = await trace(t, { answers: [() => undefined] }, async ({ app, upstream }) => {
      const controller = new AbortController()
      const sent = fetch(app.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: controller.signal,
      })
      while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
      controller.abort()
      await assert.rejects(sent)
      await upstream.requests[0]?.hungUp
    })
    const { attributes } = spanNamed(spans, `POST ${path}`)
    assert.deepEqual([attributes['error.type'], attributes['http.response.status_code']], ['caller_left', undefined])
  })
})

/** A stream that stays open after its first words. */
const streamWithoutEnd: Script = (response) => {
  const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'Some words. ' } }] }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

describe('the trace context of a caller', () => {
  it('is continued by default, and decides whether the request is recorded', async (t) => {
    const { spans } = await trace(t, {}, async ({ app }) => {
      await send(app, { traceparent: sampled.replace(/01$/, '00') })
      await send(app, { traceparent: sampled })
    })
    const [whole, ...others] = spans.filter(({ name }) => name === `POST ${path}`)
    assert.deepEqual([whole?.traceId, whole?.parentSpanId, others], [callerTrace, callerSpan, []])
  })

  it('does not decide it with follow_caller: false', async (t) => {
    const traceparent = sampled.replace(/01$/, '00')
    const { spans } = await trace(t, { traces: { follow_caller: false } }, ({ app }) => send(app, { traceparent }))
    assert.equal(spanNamed(spans, `POST ${path}`).traceId, callerTrace)
  })

  it('is linked to with parent: link', async (t) => {
    const { spans } = await trace(t, { traces: { parent: 'link' } }, ({ app }) => send(app, { traceparent: sampled }))
    const whole = spanNamed(spans, `POST ${path}`)
    assert.notEqual(whole.traceId, callerTrace)
    assert.equal(whole.parentSpanId, undefined)
    assert.deepEqual(whole.links, [{ traceId: callerTrace, spanId: callerSpan }])
  })

  it('is ignored with parent: ignore', async (t) => {
    const { spans } = await trace(t, { traces: { parent: 'ignore' } }, ({ app }) => send(app, { traceparent: sampled }))
    const whole = spanNamed(spans, `POST ${path}`)
    assert.notEqual(whole.traceId, callerTrace)
    assert.deepEqual(whole.links, [])
  })
})

describe('the trace context that an upstream gets', () => {
  const contextOf = ({ requests }: TestUpstream) => [
    requests[0]?.headers['traceparent'],
    requests[0]?.headers['tracestate'],
  ]

  it('is none by default', async (t) => {
    await trace(t, {}, async ({ app, upstream }) => {
      await send(app, { traceparent: sampled, tracestate: 'vendor=1' })
      assert.deepEqual(contextOf(upstream), [undefined, undefined])
    })
  })

  it('is the span of the call with trace: true', async (t) => {
    let received: (string | string[] | undefined)[] = []
    const { spans } = await trace(t, { upstreamSettings: { trace: true } }, async ({ app, upstream }) => {
      await send(app, { traceparent: sampled, tracestate: 'vendor=1' })
      received = contextOf(upstream)
    })
    const { spanId } = spanNamed(spans, 'chat upstream-model')
    assert.deepEqual(received, [`00-${callerTrace}-${spanId}-01`, 'vendor=1'])
  })

  it('is that of the caller, unchanged, if the request is not recorded', async (t) => {
    const traceparent = sampled.replace(/01$/, '00')
    for (const traces of [{}, { endpoint: undefined }])
      await trace(t, { traces, upstreamSettings: { trace: true } }, async ({ app, upstream }) => {
        await send(app, { traceparent })
        assert.deepEqual(contextOf(upstream), [traceparent, undefined])
      })
  })

  it('is none with parent: ignore if the request is not recorded', async (t) => {
    const traces = { sample_ratio: 0, parent: 'ignore' }
    const { spans } = await trace(t, { traces, upstreamSettings: { trace: true } }, async ({ app, upstream }) => {
      await send(app, { traceparent: sampled })
      assert.deepEqual(contextOf(upstream), [undefined, undefined])
    })
    assert.deepEqual(spans, [])
  })
})

async function setRules(app: TestApp, rules: object): Promise<void> {
  const response = await fetch(`${app.url}/api/policy-gateway/config`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ rules }),
  })
  assert.equal(response.status, 200)
}

/** The messages of the request in the span of the answered call. */
const inputOf = (spans: readonly ReceivedSpan[]): unknown =>
  JSON.parse(String(spanNamed(spans, 'chat upstream-model').attributes['gen_ai.input.messages']))

describe('the texts of a request', () => {
  it('are in the span of the model call with content: true, without personal data', async (t) => {
    const { spans, exports } = await trace(t, { traces: { content: true } }, ({ app }) => send(app))
    const { attributes } = spanNamed(spans, 'chat upstream-model')
    assert.deepEqual(JSON.parse(String(attributes['gen_ai.input.messages'])), [
      { role: 'user', parts: [{ type: 'text', content: 'Hello, I am [EMAIL_1]' }] },
    ])
    assert.deepEqual(JSON.parse(String(attributes['gen_ai.output.messages'])), [
      { role: 'assistant', parts: [{ type: 'text', content: 'A plain answer.' }], finish_reason: 'stop' },
    ])
    assert.doesNotMatch(exports.join(), /ada@example/)
  })

  it('are those that the model got if a rule rephrased the request', async (t) => {
    await using judge = await startUpstream(answerWith('Tell me about the bird.', { input: 20, output: 8 }))
    await using upstream = await startUpstream(answer)
    const config = {
      upstreams: [
        { name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` },
        { name: 'judge', kind: 'openai-chat', base_url: `${judge.url}/v1` },
      ],
      models: [
        { name: 'm', targets: [{ upstream: 'up', model: 'upstream-model' }] },
        { name: 'judge-model', targets: [{ upstream: 'judge' }] },
      ],
      policies: { judge: { model: 'judge-model' } },
    }
    const { spans, exports } = await trace(t, { traces: { content: true }, config }, async ({ app }) => {
      await setRules(app, { denylist: ['falcon'], response_pattern: 'rewrite' })
      const sent = { ...body, messages: [{ role: 'user', content: 'Tell me about project falcon.' }] }
      assert.equal((await send(app, {}, sent)).status, 200)
    })
    assert.deepEqual(inputOf(spans), [{ role: 'user', parts: [{ type: 'text', content: 'Tell me about the bird.' }] }])
    assert.doesNotMatch(exports.join(), /falcon/)
  })

  it('have the placeholders that the model got if a rule redacts personal data', async (t) => {
    const { spans, exports } = await trace(t, { traces: { content: true } }, async ({ app }) => {
      await setRules(app, { redact: true })
      const messages = ['ada@example.com', 'grace@example.com'].map((content) => ({ role: 'user', content }))
      assert.equal((await send(app, {}, { ...body, messages })).status, 200)
    })
    assert.deepEqual(inputOf(spans), [
      { role: 'user', parts: [{ type: 'text', content: '[EMAIL_1]' }] },
      { role: 'user', parts: [{ type: 'text', content: '[EMAIL_2]' }] },
    ])
    assert.doesNotMatch(exports.join(), /@example/)
  })
})

describe('a collector that does not accept spans', () => {
  for (const [title, endpoint] of [
    ['cannot be reached', 'http://127.0.0.1:1'],
    ['is no collector', undefined],
  ] as const)
    it(`that ${title} fails no request`, async (t) => {
      const { origin } = await startOtlpReceiver(t, () => ({ status: 404 }))
      await trace(t, { traces: { endpoint: endpoint ?? origin } }, async ({ app }) =>
        assert.equal((await send(app)).status, 200),
      )
    })
})
