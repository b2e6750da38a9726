import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import { answerJson, stalledStream, type Script } from '../support/upstream.ts'

type Answered = { readonly status: number; readonly usage: number; readonly stop: string; readonly error: string }

const setQuota = async ({ app }: PaidApp, tokens: number): Promise<void> => {
  const answer = await fetch(`${app.url}/api/policy-gateway/config`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ org_controls: { project_quota: { requests: 0, tokens, window: 'month' } } }),
  })
  assert.equal(answer.status, 200, await answer.text())
}

/** Generates as many tokens as allowed, up to 60, after `go`. */
const talkative =
  (go: Promise<void> = Promise.resolve()): Script =>
  async (response, { body }) => {
    const { max_completion_tokens, max_tokens } = JSON.parse(body) as Record<string, number>
    const cap = max_completion_tokens ?? max_tokens ?? Infinity
    await go
    const output = Math.min(60, cap)
    const choice = {
      index: 0,
      message: { role: 'assistant', content: 'word '.repeat(output) },
      finish_reason: cap < 60 ? 'length' : 'stop',
    }
    const usage = { prompt_tokens: 5, completion_tokens: output, total_tokens: 5 + output }
    await answerJson({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'paid',
      choices: [choice],
      usage,
    })(response, { body, method: '', path: '', headers: {}, hungUp: Promise.resolve(false) })
  }

async function send({ app }: PaidApp, more: object = {}): Promise<Answered> {
  const answer = await app.post('/v1/messages', { ...question, max_tokens: 60, ...more })
  const body = (await answer.json()) as {
    usage?: { input_tokens: number; output_tokens: number }
    stop_reason?: string
    error?: { message: string }
  }
  const { usage, stop_reason: stop = '', error } = body
  return {
    status: answer.status,
    usage: (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
    stop,
    error: error?.message ?? '',
  }
}

describe('a token quota', () => {
  it('is not exceeded by concurrent requests', async () => {
    await using scene = await startPaidApp()
    await setQuota(scene, 100)
    const { promise: go, resolve: start } = Promise.withResolvers<void>()
    scene.upstream.answer(talkative(go))
    const pending = Array.from({ length: 4 }, () => send(scene))
    await Promise.race(pending) // the rejected one, because the answers wait for `go`
    start()
    const answers = await Promise.all(pending)
    const used = answers.reduce((sum, { usage }) => sum + usage, 0)
    assert.ok(used <= 100, `${used} tokens were used`)
    assert.ok(answers.some(({ status }) => status === 200))
    assert.ok(answers.some(({ status }) => status === 429))
  })

  it('limits the last response to what is left, then rejects requests', async () => {
    await using scene = await startPaidApp()
    await setQuota(scene, 100)
    scene.upstream.answer(talkative())
    const first = await send(scene)
    const second = await send(scene)
    const third = await send(scene)
    assert.deepEqual([first.status, first.stop], [200, 'end_turn'])
    assert.deepEqual([second.status, second.stop], [200, 'max_tokens'])
    assert.ok(first.usage + second.usage <= 100)
    assert.equal(third.status, 429)
    assert.match(third.error, /The quota of this project is 100 tokens per month/)
  })

  it('releases the reservation of a response that was never started', async () => {
    await using scene = await startPaidApp()
    await setQuota(scene, 100)
    scene.upstream.answer(answerJson({ error: { message: 'no' } }, 400))
    for (let count = 0; count < 3; count++) assert.equal((await send(scene)).status, 400)
    scene.upstream.answer(talkative())
    assert.deepEqual((await send(scene)).stop, 'end_turn')
  })

  it('counts the generated tokens for a caller that disconnects', async () => {
    await using scene = await startPaidApp()
    await setQuota(scene, 1_000)
    scene.upstream.answer(stalledStream(...streamFrames(['word '.repeat(800)]).slice(0, 1)))
    const hangUp = new AbortController()
    const answer = await fetch(`${scene.app.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${scene.app.apiKey}` },
      body: JSON.stringify({ ...question, max_tokens: 900, stream: true }),
      signal: hangUp.signal,
    })
    let seen = ''
    for await (const bytes of answer.body ?? []) {
      seen += Buffer.from(bytes).toString()
      if (seen.includes('word')) break
    }
    hangUp.abort()
    assert.equal(await scene.upstream.requests[0]?.hungUp, true)
    scene.upstream.answer(answerWith('short', { input: 1, output: 1 }))
    // The first response uses about 800 of 1,000, so 300 more do not fit after it is settled.
    const sendLong = (): Promise<Answered> => send(scene, { max_tokens: 20, messages: longInput })
    for (let last = await sendLong(); !/until the month has ended/.test(last.error); last = await sendLong()) {
      assert.equal(last.status, 429)
    }
  })
})

const longInput = [{ role: 'user', content: 'word '.repeat(300) }]
