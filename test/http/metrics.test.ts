import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

const completion = answerJson({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 30,
    completion_tokens: 10,
    total_tokens: 40,
    prompt_tokens_details: { cached_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 4 },
  },
})
const failure = answerJson({ error: { message: 'broken' } }, 500)
const rejection = answerJson({ error: { message: 'no such field' } }, 400)

/** A gateway with two upstreams and the models `one` (first upstream), `both` (in order), and all names `wild-…`. */
async function startScene() {
  await using built = new AsyncDisposableStack()
  const first = built.use(await startUpstream(completion))
  const second = built.use(await startUpstream(completion))
  const upstreamOf = (name: string, url: string) => ({ name, kind: 'openai-chat', base_url: `${url}/v1` })
  const price = { input: 1000, output: 1000 }
  const app = built.use(
    await startTestApp({
      config: {
        upstreams: [upstreamOf('first', first.url), upstreamOf('second', second.url)],
        models: [
          { name: 'one', targets: [{ upstream: 'first' }], price },
          { name: 'both', targets: [{ upstream: 'first' }, { upstream: 'second' }] },
          { name: 'wild-*', targets: [{ upstream: 'second' }] },
        ],
      },
    }),
  )
  const kept = built.move()
  return {
    app,
    first,
    second,
    chat: async (model: string, text = 'Hi'): Promise<number> => {
      const response = await app.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: text }] })
      await response.text()
      return response.status
    },
    /** The value of a series, as in `name{label="value"}`. */
    async valueOf(series: string): Promise<number | undefined> {
      const lines = (await (await app.get('/metrics')).text()).split('\n')
      const line = lines.find((candidate) => candidate.startsWith(`${series} `))
      return line === undefined ? undefined : Number(line.slice(series.length + 1))
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

describe('GET /metrics', () => {
  it('counts requests by dialect, model and outcome, with their time', async () => {
    await using scene = await startScene()
    assert.equal(await scene.chat('one'), 200)
    const message = { model: 'one', max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] }
    assert.equal((await scene.app.post('/v1/messages', message)).status, 200)
    for (const dialect of ['chat', 'messages']) {
      const labels = `dialect="${dialect}",model="one"`
      assert.equal(await scene.valueOf(`gatehouse_requests_total{${labels},outcome="answered"}`), 1)
      assert.equal(await scene.valueOf(`gatehouse_request_seconds_count{${labels}}`), 1)
    }
  })

  it('labels models by the entry of the catalogue, so that callers cannot add series', async () => {
    await using scene = await startScene()
    for (const name of ['wild-a', 'wild-b']) assert.equal(await scene.chat(name), 200)
    for (const name of ['unknown-a', 'unknown-b']) assert.equal(await scene.chat(name), 404)
    const of = (model: string, outcome: string): Promise<number | undefined> =>
      scene.valueOf(`gatehouse_requests_total{dialect="chat",model="${model}",outcome="${outcome}"}`)
    assert.deepEqual([await of('wild-*', 'answered'), await of('other', 'rejected')], [2, 2])
    assert.doesNotMatch(await (await scene.app.get('/metrics')).text(), /wild-a|unknown-a/)
  })

  it('counts the attempts of a request at each upstream, and the retries that its caller did not see', async () => {
    await using scene = await startScene()
    scene.first.answer(failure)
    assert.equal(await scene.chat('both'), 200)
    const calls = (upstream: string, outcome: string): Promise<number | undefined> =>
      scene.valueOf(`gatehouse_upstream_calls_total{upstream="${upstream}",outcome="${outcome}"}`)
    assert.deepEqual([await calls('first', 'failed'), await calls('second', 'answered')], [1, 1])
    assert.equal(await scene.valueOf('gatehouse_upstream_retries_total{upstream="first",to="next"}'), 1)
    assert.equal(await scene.valueOf('gatehouse_upstream_first_byte_seconds_count{upstream="second"}'), 1)
    assert.equal(await scene.valueOf('gatehouse_upstream_seconds_count{upstream="second"}'), 1)
    assert.equal(await scene.valueOf('gatehouse_upstream_seconds_count{upstream="first"}'), undefined)
  })

  it('shows an upstream that is avoided after failures, and the failed requests', async () => {
    await using scene = await startScene()
    scene.first.answer(failure)
    const cooldown = 'gatehouse_upstream_cooling_down{upstream="first"}'
    assert.equal(await scene.valueOf(cooldown), 0)
    for (let count = 0; count < 2; count++) assert.equal(await scene.chat('one'), 502)
    assert.equal(await scene.valueOf(cooldown), 1)
    const failed = 'gatehouse_requests_total{dialect="chat",model="one",outcome="upstream_failed"}'
    assert.equal(await scene.valueOf(failed), 2)
    assert.equal(await scene.valueOf('gatehouse_upstream_retries_total{upstream="first",to="same"}'), 2)
    assert.equal(await scene.valueOf('gatehouse_upstream_calls_total{upstream="first",outcome="failed"}'), 4)
  })

  it('counts a request that the upstream rejects, apart from failures of the upstream', async () => {
    await using scene = await startScene()
    scene.first.answer(rejection)
    assert.equal(await scene.chat('one'), 400)
    assert.equal(await scene.valueOf('gatehouse_upstream_calls_total{upstream="first",outcome="rejected"}'), 1)
    assert.equal(await scene.valueOf('gatehouse_upstream_calls_total{upstream="first",outcome="failed"}'), 0)
  })

  it('counts tokens by kind without overlap, and the credits that they cost', async () => {
    await using scene = await startScene()
    assert.equal(await scene.chat('one'), 200)
    const tokens = (kind: string): Promise<number | undefined> =>
      scene.valueOf(`gatehouse_tokens_total{model="one",kind="${kind}"}`)
    assert.deepEqual(
      [await tokens('input'), await tokens('cache_read'), await tokens('output'), await tokens('reasoning')],
      [22, 8, 6, 4],
    )
    assert.ok(((await scene.valueOf('gatehouse_credits_used_total{model="one",metered="true"}')) ?? 0) > 0)
  })

  it('counts denied requests, the decisions of the checks, and how long answers were held back', async () => {
    await using scene = await startScene()
    const headers = { authorization: `Bearer ${scene.app.adminKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ rules: { denylist: ['forbidden'] } })
    const saved = await fetch(`${scene.app.url}/api/policy-gateway/config`, { method: 'PUT', headers, body })
    assert.equal(saved.status, 200, await saved.text())
    assert.equal(await scene.chat('one', 'The forbidden word'), 400)
    assert.equal(await scene.chat('one', 'Hello'), 200)
    assert.equal(await scene.valueOf('gatehouse_requests_total{dialect="chat",model="one",outcome="denied"}'), 1)
    const decisions = (decision: string): Promise<number | undefined> =>
      scene.valueOf(`gatehouse_decisions_total{check="gateway",decision="${decision}",enforced="true"}`)
    assert.deepEqual([await decisions('refuse'), await decisions('allow')], [1, 1])
    assert.equal(await scene.valueOf('gatehouse_hold_back_seconds_count'), 1)
  })

  it('shows the version, the requests in flight and whether anything can be stored', async () => {
    await using scene = await startScene()
    const { version } = scene.app.app
    const node = process.versions.node
    assert.equal(await scene.valueOf(`gatehouse_build_info{version="${version}",node="${node}"}`), 1)
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    scene.first.answer(async (response, request) => {
      arrived.resolve()
      await released.promise
      await completion(response, request)
    })
    const status = scene.chat('one')
    await arrived.promise
    assert.equal(await scene.valueOf('gatehouse_requests_in_flight'), 1)
    assert.equal(await scene.valueOf('gatehouse_upstream_calls_in_flight{upstream="first"}'), 1)
    released.resolve()
    assert.equal(await status, 200)
    assert.equal(await scene.valueOf('gatehouse_requests_in_flight'), 0)
    assert.equal(await scene.valueOf('gatehouse_storage_writable'), 1)
  })
})
