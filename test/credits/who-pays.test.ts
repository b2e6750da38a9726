import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import { answerJson, answerStream, cutStream, silence, stalledStream } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

const start = 10_000
const generous = { rpm: 100, tpm: 100_000, rpd: 1000, tpd: 0, concurrent: { key: 1, project: 0, organization: 0 } }
const limits = { tiers: { free: generous } }

/** A harmless text, so that chunks are sent as they arrive: an answer near a threshold is held back as a whole. */
const harmless = { stream: true, messages: [{ role: 'user', content: 'What is the weather like in Paris in May?' }] }

const send = ({ app }: PaidApp, more: object = {}): Promise<Response> =>
  app.post('/v1/messages', { ...question, ...more })

const remainingRequests = (answer: Response): number => Number(answer.headers.get('x-ratelimit-remaining-requests'))
const remainingTokens = (answer: Response): number => Number(answer.headers.get('x-ratelimit-remaining-tokens'))

/** Waits for the settlement of an answer that is no longer read. */
async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('who pays', () => {
  it('the caller, what the upstream reports, whole and streamed', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    scene.upstream.answer(
      answerWith('Hello', { input: 12, output: 3 }),
      answerStream(...streamFrames(['Hel', 'lo'], { input: 20, output: 5 })),
    )
    const whole = (await (await send(scene)).json()) as Record<string, unknown>
    assert.deepEqual(
      [whole['estimated_credits_used'], whole['remaining_credits'], whole['estimated_cost_usd']],
      [15, start - 15, 0.015],
    )
    const streamed = await (await send(scene, { stream: true })).text()
    assert.match(streamed, new RegExp(`"remaining_credits":${start - 40},"estimated_credits_used":25`))
    assert.equal(await scene.remaining(), start - 40)
    assert.deepEqual(await scene.used(), { requests: 2, input: 32, output: 8, credits: 40 })
  })

  it('the caller, also if requests are not logged', async () => {
    await using scene = await startPaidApp({ config: { limits, audit: { requests: false } } })
    scene.upstream.answer(
      answerWith('Hello', { input: 12, output: 3 }),
      answerStream(...streamFrames(['Hel', 'lo'], { input: 20, output: 5 })),
    )
    const whole = (await (await send(scene)).json()) as Record<string, unknown>
    assert.deepEqual([whole['estimated_credits_used'], whole['remaining_credits']], [15, start - 15])
    assert.match(await (await send(scene, { stream: true })).text(), /"estimated_credits_used":25/)
    assert.equal(await scene.remaining(), start - 40)
  })

  it('the caller, by the gateway’s count if the upstream reports no usage; and the receipt says so', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    scene.upstream.answer(answerWith('x'.repeat(35)))
    await (await send(scene)).json()
    const [entry] = await operatorOf(scene.app.app).ledger()
    assert.equal(entry?.receipt?.token_source, 'estimated')
    assert.equal(entry?.receipt?.output_tokens, 10)
    assert.equal(start - (await scene.remaining()), -(entry?.credits ?? 0))
  })

  it('the caller, by the gateway’s count if the upstream reports an impossible usage', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    scene.upstream.answer(answerWith('x'.repeat(35), { input: 1e30, output: -5 }))
    const answer = (await (await send(scene)).json()) as Record<string, unknown>
    assert.deepEqual([answer['estimated_credits_used'], answer['remaining_credits']], [18, start - 18])
  })

  for (const stream of [false, true])
    it(`the caller, by the gateway’s count if the upstream reports an implausible usage, ${stream ? 'streamed' : 'whole'}; and a warning is logged`, async () => {
      const lines: string[] = []
      const log = createLog({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } })
      await using scene = await startPaidApp({ config: { limits }, log })
      const counted = { input: 1e9, output: 1e9 }
      scene.upstream.answer(
        stream ? answerStream(...streamFrames(['x'.repeat(35)], counted)) : answerWith('x'.repeat(35), counted),
      )
      const text = await (await send(scene, { max_tokens: 20, stream })).text()
      assert.match(text, new RegExp(`"remaining_credits":${start - 18},"estimated_credits_used":18`))
      assert.doesNotMatch(text, /1000000000/)
      const operator = operatorOf(scene.app.app)
      const [entry] = await operator.ledger()
      assert.deepEqual([entry?.receipt?.token_source, entry?.receipt?.reported_tokens], ['estimated', 2e9])
      const logged = await scene.app.get('/v1/organization/audit_logs?limit=1', {
        authorization: `Bearer ${scene.app.adminKey}`,
      })
      assert.match(await logged.text(), /"reported_tokens":2000000000/)
      assert.match(
        await (await scene.app.get('/metrics')).text(),
        /gatehouse_implausible_usage_total\{upstream="up"\} 1/,
      )
      assert.equal(lines.filter((line) => line.includes('an implausible token count')).length, 1)
      assert.equal((await operator.verifyLedger()).broken, null)
    })

  for (const stream of [false, true])
    it(`gets the gateway’s count also in the upstream’s own dialect, ${stream ? 'streamed' : 'whole'}`, async () => {
      await using scene = await startPaidApp({ config: { limits } })
      const counted = { input: 12, output: 1e9 }
      scene.upstream.answer(
        stream ? answerStream(...streamFrames(['x'.repeat(35)], counted)) : answerWith('x'.repeat(35), counted),
      )
      const requestBody = { ...question, stream, ...(stream && { stream_options: { include_usage: true } }) }
      const text = await (await scene.app.post('/v1/chat/completions', requestBody)).text()
      assert.match(text, /"completion_tokens":10,/)
      assert.equal(await scene.remaining(), start - 12 - 10)
    })

  for (const [input, output, credits, reported] of [
    [-1, 3, 11, 2],
    [12, -5, 22, 7],
    [12.9, 3.9, 15, null],
    [1e300, 1e300, 18, Number.MAX_SAFE_INTEGER],
  ] as const)
    it(`the caller, for whole tokens from 0 on, if the upstream reports ${input} and ${output}`, async () => {
      await using scene = await startPaidApp({ config: { limits } })
      scene.upstream.answer(answerWith('x'.repeat(35), { input, output }))
      await (await send(scene)).arrayBuffer()
      assert.equal(await scene.remaining(), start - credits)
      const operator = operatorOf(scene.app.app)
      assert.equal((await operator.ledger())[0]?.receipt?.reported_tokens, reported)
      assert.equal((await operator.verifyLedger()).broken, null)
    })

  it('nobody if the gateway rejects the request; with a valid key it counts as a request', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    assert.equal((await send(scene, { max_tokens: 'many' })).status, 400)
    assert.equal((await send(scene, { model: 'unknown' })).status, 404)
    assert.equal((await scene.app.post('/v1/messages', '{ not json')).status, 400)
    assert.equal((await scene.app.post('/v1/messages', '{}', { authorization: 'Bearer wrong' })).status, 401)
    const answer = await send(scene)
    assert.equal(remainingRequests(answer), 100 - 4)
    assert.equal(await scene.remaining(), start - 2)
  })

  it('nobody if the upstream fails before the first token', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    scene.upstream.answer(answerJson({ error: { message: 'no' } }, 500))
    assert.equal((await send(scene)).status, 502)
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    const answer = await send(scene)
    assert.equal(remainingRequests(answer), 98)
    assert.equal(remainingTokens(answer), 100_000 - 8 - 50) // only the reservation of this request
    assert.equal(await scene.remaining(), start - 2)
    assert.equal((await scene.used()).requests, 1)
  })

  it('nobody if the upstream fails in the middle; its tokens count', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    const [first = ''] = streamFrames(['x'.repeat(350)])
    scene.upstream.answer(cutStream(first))
    const text = await (await send(scene, { ...harmless, max_tokens: 200 })).text()
    assert.match(text, /"type":"error"/) // as an event, or instead of the stream if nothing was sent yet
    assert.equal(await scene.remaining(), start)
    const { requests, input, output, credits } = await scene.used()
    assert.deepEqual([requests, output, credits], [1, 100, 0])
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    assert.equal(remainingTokens(await send(scene)), 100_000 - (input + 100) - 58)
  })

  it('the caller that disconnects in the middle, for the input and what was generated; the slot is free at once', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    const [first = ''] = streamFrames(['x'.repeat(350)])
    scene.upstream.answer(stalledStream(first))
    const hangUp = new AbortController()
    const answer = await fetch(`${scene.app.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${scene.app.apiKey}` },
      body: JSON.stringify({ ...question, ...harmless, max_tokens: 200 }),
      signal: hangUp.signal,
    })
    await answer.body?.getReader().read()
    hangUp.abort()
    assert.equal(await scene.upstream.requests[0]?.hungUp, true)
    await eventually(async () => (await scene.used()).requests === 1)
    const { input } = await scene.used()
    assert.deepEqual(await scene.used(), { requests: 1, input, output: 100, credits: input + 100 })
    assert.equal(await scene.remaining(), start - input - 100)
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    assert.equal((await send(scene)).status, 200) // this key allows one request at a time
  })

  it('nobody if the caller disconnects before the first token; its input counts', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    scene.upstream.answer(silence)
    const hangUp = new AbortController()
    const pending = fetch(`${scene.app.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${scene.app.apiKey}` },
      body: JSON.stringify(question),
      signal: hangUp.signal,
    })
    await eventually(async () => scene.upstream.requests.length === 1)
    hangUp.abort()
    await assert.rejects(pending)
    await scene.upstream.requests[0]?.hungUp
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    let answer = await send(scene)
    while (answer.status === 429) answer = await send(scene)
    assert.equal(await scene.remaining(), start - 2)
    assert.equal(remainingTokens(answer), 100_000 - 8 - 58)
  })

  it('the caller, also beyond the hold: the excess is a debt that the next grant pays', async () => {
    await using scene = await startPaidApp({ config: { limits, credits: { starting: 100 } } })
    scene.upstream.answer(answerWith('Hello', { input: 120, output: 30 }))
    const answer = (await (await send(scene)).json()) as Record<string, unknown>
    assert.deepEqual([answer['estimated_credits_used'], answer['remaining_credits']], [150, 0])
    const rejected = await send(scene)
    assert.equal(rejected.status, 402)
    assert.equal(rejected.headers.get('x-should-retry'), 'false')
    const operator = operatorOf(scene.app.app)
    assert.equal((await operator.balance()).debt_credits, 50)
    await operator.grant({ credits: 300 })
    assert.equal((await send(scene)).status, 200)
    assert.equal(await scene.remaining(), 100)
    assert.equal((await operator.verifyLedger()).broken, null)
  })

  it('nobody without metering; the usage is still in the ledger', async () => {
    await using scene = await startPaidApp({ config: { limits } })
    const operator = operatorOf(scene.app.app)
    await operator.updateOrganization({ metered: false })
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    const answer = (await (await send(scene)).json()) as Record<string, unknown>
    assert.deepEqual([answer['estimated_credits_used'], answer['remaining_credits']], [15, null])
    assert.equal(await scene.remaining(), start)
    assert.deepEqual(await scene.used(), { requests: 1, input: 12, output: 3, credits: 0 })
    assert.equal((await operator.verifyLedger()).broken, null)
  })
})

describe('a request for more tokens than there are', () => {
  it('holds no more than the model can write', async () => {
    await using scene = await startPaidApp({ config: { credits: { starting: 300_000 } } })
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    assert.equal((await send(scene, { max_tokens: Number.MAX_SAFE_INTEGER })).status, 200)
    assert.equal(await scene.remaining(), 300_000 - 2)
  })
})

describe('a balance that does not cover a request', () => {
  const bodies = {
    '/v1/messages': question,
    '/v1/chat/completions': question,
    '/v1/responses': { model: 'paid', input: 'hi', max_output_tokens: 50 },
  }
  const shapes: Record<keyof typeof bodies, (body: Refusal) => unknown> = {
    '/v1/messages': (body) => [body.type, body.error?.type],
    '/v1/chat/completions': (body) => [body.error?.type, body.error?.code],
    '/v1/responses': (body) => [body.code, typeof body.error],
  }
  const expectedErrors: Record<keyof typeof bodies, unknown> = {
    '/v1/messages': ['error', 'permission_error'],
    '/v1/chat/completions': ['billing_error', 'insufficient_credits'],
    '/v1/responses': ['insufficient_credits', 'string'],
  }
  type Refusal = { type?: string; code?: string; error?: { type?: string; code?: string } }

  for (const path of Object.keys(bodies) as (keyof typeof bodies)[]) {
    it(`is reported in the format of ${path}, and counts as an attempt`, async () => {
      await using scene = await startPaidApp({ config: { limits, credits: { starting: 5 } } })
      const rejected = await scene.app.post(path, bodies[path])
      assert.equal(rejected.status, 402)
      assert.deepEqual(shapes[path]((await rejected.json()) as Refusal), expectedErrors[path])
      assert.equal(rejected.headers.get('retry-after'), null)
      assert.equal(remainingRequests(rejected), 99)
      assert.equal(scene.upstream.requests.length, 0)
    })
  }
})

it('a payment beyond the range of exact numbers is rejected', async () => {
  await using scene = await startPaidApp()
  const pay = operatorOf(scene.app.app).recordPayment
  for (const usd of [0, -1, NaN, 1e10])
    await assert.rejects(pay({ usd, credits: 1, ref: 'odd' }), { code: 'invalid_parameter' })
  assert.equal((await scene.app.get('/v1/credits')).status, 200)
})
