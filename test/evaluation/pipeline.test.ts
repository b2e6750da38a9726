import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, question, startPaidApp, streamFrames, type PaidApp } from '../support/paid-app.ts'
import { answerJson, answerStream, stalledStream, startUpstream } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

type Json = Readonly<Record<string, unknown>>

const start = 10_000

async function configure({ app }: PaidApp, config: Json): Promise<void> {
  const headers = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
  const path = `${app.url}/api/policy-gateway/config`
  const answer = await fetch(path, { method: 'PUT', headers, body: JSON.stringify(config) })
  assert.equal(answer.status, 200, await answer.text())
}

async function events({ app }: PaidApp, query = ''): Promise<Json[]> {
  const answer = await app.get(`/api/policy-gateway/history${query}`)
  return ((await answer.json()) as { data: Json[] }).data
}

const send = (
  { app }: PaidApp,
  more: Json = userMessage('Hello there'),
  headers: Readonly<Record<string, string>> = {},
) => app.post('/v1/messages', { ...question, ...more }, { authorization: `Bearer ${app.apiKey}`, ...headers })

const userMessage = (text: string): Json => ({ messages: [{ role: 'user', content: text }] })

describe('an enforced request', () => {
  it('costs nothing if it is denied, never reaches the upstream, and names its audit event', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('never', { input: 1, output: 1 }))
    await configure(scene, {
      rules: { denylist: ['falcon'] },
      org_controls: { data_classification: 'internal' },
    })
    const answer = await send(scene, userMessage('about the falcon'))
    const { policy } = (await answer.json()) as { policy: Json }
    assert.equal(answer.status, 400)
    assert.equal(scene.upstream.requests.length, 0)
    assert.equal(await scene.remaining(), start)
    const [event] = await events(scene)
    assert.deepEqual([event?.['id'], event?.['decision'], event?.['enforced']], [policy['event_id'], 'refuse', true])
  })

  it('is denied for text in an unknown field', async () => {
    await using scene = await startPaidApp()
    await configure(scene, { rules: { denylist: ['falcon'] } })
    const body = { model: 'paid', ...userMessage('Sum it up.'), documents: [{ text: 'All about the falcon.' }] }
    const answer = await scene.app.post('/v1/chat/completions', body)
    assert.deepEqual([answer.status, scene.upstream.requests.length], [400, 0])
  })

  it('is denied for a term that is split between its parts', async () => {
    await using scene = await startPaidApp()
    await configure(scene, { rules: { denylist: ['the falcon'] } })
    const inParts = (...texts: string[]): Json => ({
      messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
    })
    for (const parts of [
      ['about the', 'falcon'],
      ['about the fal', 'con'],
      ['I', 'want', 'to', 'kill', 'myself', 'tonight'],
    ])
      assert.equal((await send(scene, inParts(...parts))).status, 400, parts.join())
    assert.equal(scene.upstream.requests.length, 0)
  })

  it('pays for what was generated if its response is stopped, and stops the upstream', async () => {
    await using scene = await startPaidApp()
    await configure(scene, { rules: { denylist: ['falcon'] } })
    const words = 'one two three four five six seven eight nine ten '.repeat(8)
    scene.upstream.answer(
      stalledStream(...streamFrames([words, 'and the falcon flies over ', words, words]).slice(0, 4)),
    )
    const answer = await (await send(scene, { ...userMessage('Hello there'), max_tokens: 500, stream: true })).text()
    assert.match(answer, /"stop_reason":"refusal"/)
    assert.doesNotMatch(answer, /falcon/)
    assert.equal(await scene.upstream.requests[0]?.hungUp, true)
    const used = await scene.used()
    assert.ok(used.output > 100 && (await scene.remaining()) === start - used.credits, JSON.stringify(used))
  })

  it('gets no denied text from the search results of its upstream', async () => {
    const frame = (data: { type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } }
    const searchResult = { type: 'web_search_tool_result', tool_use_id: 's', content: [{ title: 'The falcon flies' }] }
    const frames = [
      frame(Object.assign({ type: 'message_start' }, { message })),
      frame(Object.assign({ type: 'content_block_start' }, { index: 0, content_block: searchResult })),
      frame(Object.assign({ type: 'content_block_stop' }, { index: 0 })),
      frame(
        Object.assign({ type: 'message_delta' }, { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
      ),
      frame({ type: 'message_stop' }),
    ]
    // Far enough apart to arrive in separate reads.
    await using upstream = await startUpstream(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const one of frames) {
        response.write(one)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      response.end()
    })
    const config = {
      upstreams: [{ name: 'up', kind: 'anthropic', base_url: upstream.url }],
      models: [{ name: 'paid', targets: [{ upstream: 'up' }] }],
    }
    await using scene = await startPaidApp({ config })
    await configure(scene, { rules: { denylist: ['falcon'] } })
    const answer = await (await send(scene, { ...userMessage('Look it up.'), stream: true })).text()
    assert.match(answer, /"stop_reason":"refusal"/)
    assert.doesNotMatch(answer, /falcon/)
  })

  describe('whose response has out-of-band text', () => {
    const cited = (title: string, url = 'https://example.org') => ({
      annotations: [{ type: 'url_citation', url_citation: { title, url } }],
    })
    const whole = (message: object) => ({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'paid',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Here.', ...message }, finish_reason: 'stop' }],
    })
    const streamed = (delta: object): string[] => {
      const [first = '', ...rest] = streamFrames(['Here.'])
      return [
        first.replace('"role":"assistant"', JSON.stringify({ role: 'assistant', ...delta }).slice(1, -1)),
        ...rest,
      ]
    }
    const answers = (title: string) => [answerJson(whole(cited(title))), answerStream(...streamed(cited(title)))]

    for (const [at, way] of ['whole', 'streamed'].entries()) {
      const sendRequest = (scene: PaidApp) =>
        scene.app.post('/v1/chat/completions', { ...question, stream: way === 'streamed' })

      it(`is filtered if that text is denied, ${way}`, async () => {
        await using scene = await startPaidApp()
        await configure(scene, { rules: { denylist: ['falcon'] } })
        const [no, yes] = [answers('Falcon'), answers('Condor')].map((both) => both[at])
        assert.ok(no && yes)
        scene.upstream.answer(no, yes)
        const filtered = await (await sendRequest(scene)).text()
        assert.match(filtered, /"finish_reason":"content_filter"/)
        assert.doesNotMatch(filtered, /Falcon/)
        assert.match(await (await sendRequest(scene)).text(), /Condor/)
      })

      it(`is filtered for a caller of another dialect if the title or the URL of a citation is denied, ${way}`, async () => {
        await using scene = await startPaidApp()
        await configure(scene, { rules: { denylist: ['falcon nest'] } })
        const script = (message: object) =>
          way === 'whole' ? answerJson(whole(message)) : answerStream(...streamed(message))
        scene.upstream.answer(
          script(cited('Birds', 'https://example.org/falcon-nest')),
          script(cited('The falcon nest')),
          script(cited('The condor nest')),
        )
        const ask = async (): Promise<string> =>
          await (await send(scene, { ...userMessage('Where?'), stream: way === 'streamed' })).text()
        for (const answer of [await ask(), await ask()]) {
          assert.match(answer, /"stop_reason":"refusal"/)
          assert.doesNotMatch(answer, /falcon/)
        }
        assert.match(await ask(), /"title":"The condor nest"/)
      })

      it(`loses that text if it contains personal data that is redacted, ${way}`, async () => {
        await using scene = await startPaidApp()
        await configure(scene, { rules: { redact: true } })
        const [script] = [answers('Of ada@example.org')[at]]
        assert.ok(script)
        scene.upstream.answer(script)
        const answer = await (await sendRequest(scene)).text()
        assert.match(answer, /Here\./)
        assert.doesNotMatch(answer, /ada@/)
      })
    }
  })

  it('gets its response while it streams, not when it is complete', async () => {
    await using scene = await startPaidApp()
    await configure(scene, { rules: { denylist: ['falcon'] } })
    const words = Array.from({ length: 100 }, (_, at) => `word ${at} `)
    scene.upstream.answer(stalledStream(...streamFrames(words).slice(0, words.length)))
    const answer = await send(scene, { ...userMessage('Hello there'), stream: true })
    const decoder = new TextDecoder()
    let seen = ''
    for await (const bytes of answer.body ?? []) {
      seen += decoder.decode(bytes, { stream: true })
      if (seen.includes('word 90')) break
    }
    assert.match(seen, /word 90/)
  })

  it('is rejected if it names an unknown policy', async () => {
    await using scene = await startPaidApp()
    const answer = await send(scene, {}, { 'x-policy-id': 'pol_nothing' })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /names a policy that does not exist: pol_nothing/)
  })

  it('gets its own personal data back if the operator has enabled it', async () => {
    await using scene = await startPaidApp({ config: { moderation: { restore_redacted: true } } })
    await configure(scene, { rules: { redact: true } })
    const frames = streamFrames(['Dear [EM', 'AIL_1], or is it bob@exam', 'ple.org? Bye.'], { input: 1, output: 1 })
    scene.upstream.answer(answerStream(...frames))
    const answer = await (await send(scene, { ...userMessage('I am ada@example.com'), stream: true })).text()
    const text = [...answer.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece]) => piece).join('')
    assert.equal(text, 'Dear ada@example.com, or is it [EMAIL_2]? Bye.')
    assert.doesNotMatch(scene.upstream.requests[0]?.body ?? '', /ada@/)
  })

  it('is limited by the quota of its user', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    const quota = { requests: 1, tokens: 0, window: 'day' }
    await configure(scene, { org_controls: { user_quotas: true, user_quota: quota } })
    const asAda = { 'x-policy-user': 'ada' }
    const statuses = [
      await send(scene, {}, asAda),
      await send(scene, {}, asAda),
      await send(scene, {}, { 'x-policy-user': 'bob' }),
    ]
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [200, 429, 200],
    )
    assert.match((await statuses[1]?.text()) ?? '', /USER_QUOTA_EXCEEDED/)
  })

  it('is stored with its audit event in redacted form, and can be erased there', async () => {
    await using scene = await startPaidApp({ config: { audit: { content: 'redacted' } } })
    scene.upstream.answer(answerWith('I wrote to bob@example.org', { input: 1, output: 1 }))
    const answer = await send(scene, userMessage('Write to bob@example.org'))
    await answer.text()
    const request = answer.headers.get('x-request-id') ?? ''
    assert.deepEqual(await operatorOf(scene.app.app).eraseTexts(request), { erased: 1 })
    assert.deepEqual(await operatorOf(scene.app.app).eraseTexts(request), { erased: 0 })
  })

  it('is assigned to a canary by its user, always to the same side', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    const canary = { enabled: true, sample_percent: 50 }
    await configure(scene, { rules: { denylist: ['falcon'] }, rollout: { canary } })
    const statusesOf = async (user: string): Promise<number[]> => {
      const twice = [1, 2].map(() => send(scene, userMessage('the falcon'), { 'x-policy-user': user }))
      return (await Promise.all(twice)).map(({ status }) => status)
    }
    const users = await Promise.all(Array.from({ length: 20 }, (_, at) => statusesOf(`user-${at}`)))
    assert.ok(users.every(([first, second]) => first === second))
    assert.deepEqual(new Set(users.map(([first]) => first)), new Set([200, 400]))
  })
})
