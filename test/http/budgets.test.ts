import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, question, startPaidApp, type PaidApp } from '../support/paid-app.ts'
import { answerJson } from '../support/upstream.ts'

const config = { budgets: { tags: ['team'] } }

type Json = Readonly<Record<string, unknown>>

async function makeBudget({ app }: PaidApp, fields: Json): Promise<string> {
  const created = await app.post(
    '/v1/organization/budgets',
    { name: 'Team red', period: 'month', ...fields },
    { authorization: `Bearer ${app.adminKey}` },
  )
  const body = (await created.json()) as { id: string }
  assert.equal(created.status, 201, JSON.stringify(body))
  return body.id
}

const ask = async ({ app }: PaidApp, fields: Json = {}, headers: Record<string, string> = {}): Promise<Answer> => {
  const { path = '/v1/messages', ...body } = fields
  const authorization = `Bearer ${app.apiKey}`
  const answer = await app.post(String(path), { ...question, ...body }, { authorization, ...headers })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json }
}
type Answer = { readonly status: number; readonly headers: Headers; readonly body: Json }

const errorOf = ({ body }: Answer): Json => (body['error'] ?? body) as Json

async function statusesOf(count: number, send: () => Promise<Answer>): Promise<Record<number, number>> {
  const statuses = await Promise.all(Array.from({ length: count }, send))
  return Object.fromEntries(
    Map.groupBy(statuses, ({ status }) => status)
      .entries()
      .map(([status, all]) => [status, all.length]),
  )
}

describe('a budget', () => {
  it('of 37 requests admits 37 of 1,000 that are sent at once', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    await makeBudget(scene, { requests: 37 })
    const send = () => ask(scene, { model: 'gatehouse-echo' })
    const rounds = [await statusesOf(500, send), await statusesOf(500, send)]
    assert.deepEqual(rounds, [{ 200: 37, 429: 463 }, { 429: 500 }])
  })

  it('holds the most that a request may cost, and settles what it cost', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config: { ...config, credits: { starting: 1_000_000 } } })
    // A credit is 0.001 dollars, and each token costs one.
    await makeBudget(scene, { amount_usd: 0.2, period: 'day' })
    scene.upstream.answer(answerWith('Hello', { input: 3, output: 10 }))
    const { status } = await ask(scene, { max_tokens: 100 })
    assert.equal(status, 200)
    const rejected = await ask(scene, { max_tokens: 195 })
    assert.deepEqual([rejected.status, errorOf(rejected)['type']], [429, 'rate_limit_error'])
    assert.match(
      String(errorOf(rejected)['message']),
      /^The budget "Team red" allows \$0\.20 a day\. Left: \$0\.19, and this request may need more\. It begins again at \d{4}-\d\d-\d\d 00:00 UTC\.$|Retry in/,
    )
    assert.equal(rejected.headers.get('x-gatehouse-error-code'), 'budget_exceeded')
    assert.equal((await ask(scene, { max_tokens: 150 })).status, 200)
  })

  it('shows what running requests hold of it, until they end', async () => {
    await using scene = await startPaidApp({ config: { ...config, credits: { starting: 1_000_000 } } })
    const id = await makeBudget(scene, { amount_usd: 0.2, period: 'day' })
    const called = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    scene.upstream.answer(async (response, request) => {
      called.resolve()
      await end.promise
      await answerWith('Hello', { input: 3, output: 10 })(response, request)
    })
    const status = async (): Promise<Json | undefined> => {
      const headers = { authorization: `Bearer ${scene.app.adminKey}` }
      const { members } = (await (await scene.app.get(`/v1/organization/budgets/${id}/status`, headers)).json()) as {
        members: Json[]
      }
      return members[0]
    }
    const answer = ask(scene, { max_tokens: 100 })
    await called.promise
    const running = await status()
    assert.equal(running?.['spent'], 0)
    assert.ok(Number(running?.['held']) >= 0.1, JSON.stringify(running))
    end.resolve()
    assert.equal((await answer).status, 200)
    const ended = await status()
    assert.deepEqual([ended?.['spent'], ended?.['held'], ended?.['left']], [0.013, 0, 0.187])
  })

  it('is named in the error format of each family, and tells clients not to retry', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    await makeBudget(scene, { requests: 1 })
    assert.equal((await ask(scene, { model: 'gatehouse-echo' })).status, 200)
    const formats = [
      { path: '/v1/chat/completions', messages: question.messages },
      { path: '/v1/responses', input: 'Hi', messages: undefined, max_tokens: undefined },
      { path: '/v1/messages' },
      { path: '/v1/embeddings', input: 'Hi', messages: undefined, max_tokens: undefined },
    ]
    for (const fields of formats) {
      const rejected = await ask(scene, { ...fields, model: 'gatehouse-echo' })
      assert.equal(rejected.status, 429, fields.path)
      assert.match(String(errorOf(rejected)['message']), /^The budget "Team red" allows 1 request a month\./)
      assert.equal(rejected.headers.get('x-gatehouse-error-code'), 'budget_exceeded')
      assert.equal(rejected.headers.get('x-should-retry'), 'false')
      assert.equal(rejected.headers.get('retry-after'), null)
      if (fields.path !== '/v1/messages') assert.equal(errorOf(rejected)['code'], 'budget_exceeded')
    }
  })

  it('gives each user and each value of a tag an amount of its own', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    await makeBudget(scene, { requests: 2, per: 'user', match: { tags: { team: ['red'] } } })
    await makeBudget(scene, { name: 'Teams', requests: 4, per: 'tag:team' })
    const send = async (user: string, team: string): Promise<number> => {
      const headers = { 'x-policy-user': user, 'x-policy-tags': `team=${team}` }
      return (await ask(scene, { model: 'gatehouse-echo' }, headers)).status
    }
    const statuses: number[] = []
    for (const [user, team] of Object.entries({ a: 'red', b: 'red', c: 'blue' }))
      for (let at = 0; at < 3; at++) statuses.push(await send(user, team))
    assert.deepEqual(statuses, [200, 200, 429, 200, 200, 429, 200, 200, 200])
    assert.equal(await send('d', 'red'), 429)
    assert.equal(await send('d', 'blue'), 200)
    assert.equal((await ask(scene, { model: 'gatehouse-echo' })).status, 200)
  })

  it('counts what was spent before it was made, and a raised amount admits at once', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    for (let at = 0; at < 3; at++) await ask(scene, { model: 'gatehouse-echo' })
    const id = await makeBudget(scene, { requests: 4 })
    const statuses = [await ask(scene, { model: 'gatehouse-echo' }), await ask(scene, { model: 'gatehouse-echo' })]
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [200, 429],
    )
    const { app } = scene
    const raised = await fetch(`${app.url}/v1/organization/budgets/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ requests: 5, revision: 1 }),
    })
    assert.equal(raised.status, 200, await raised.text())
    assert.equal((await ask(scene, { model: 'gatehouse-echo' })).status, 200)
    assert.equal((await ask(scene, { model: 'gatehouse-echo' })).status, 429)
  })

  it('counts what a user of the longest name has spent before it was made', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    const headers = { 'x-policy-user': 'u'.repeat(256) }
    const send = async (): Promise<number> => (await ask(scene, { model: 'gatehouse-echo' }, headers)).status
    assert.deepEqual([await send(), await send()], [200, 200])
    await makeBudget(scene, { requests: 3, per: 'user' })
    assert.deepEqual([await send(), await send()], [200, 429])
  })

  it('counts what was spent while it was paused', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    const id = await makeBudget(scene, { requests: 3 })
    const send = async (): Promise<number> => (await ask(scene, { model: 'gatehouse-echo' })).status
    const change = async (fields: Json): Promise<void> => {
      const changed = await fetch(`${scene.app.url}/v1/organization/budgets/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${scene.app.adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(fields),
      })
      assert.equal(changed.status, 200, await changed.text())
    }
    assert.equal(await send(), 200)
    await change({ state: 'paused', revision: 1 })
    assert.equal(await send(), 200)
    await change({ state: 'active', revision: 2 })
    assert.deepEqual([await send(), await send()], [200, 429])
  })

  it('is not spent by requests that fail or that a check denies', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    await makeBudget(scene, { requests: 1 })
    scene.upstream.answer(answerJson({}, 500))
    assert.ok((await ask(scene)).status >= 500)
    const denied = await ask(scene, { model: 'nothing' })
    assert.equal(denied.status, 404)
    assert.equal((await ask(scene, { model: 'gatehouse-echo' })).status, 200)
    assert.equal((await ask(scene, { model: 'gatehouse-echo' })).status, 429)
  })

  it('with the action use_model continues with the other model, and says so in the header and the event', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    const match = { models: ['paid'] }
    const id = await makeBudget(scene, { requests: 1, match, action: 'use_model:gatehouse-echo' })
    scene.upstream.answer(answerWith('Hello', { input: 3, output: 10 }))
    const first = await ask(scene)
    assert.deepEqual([first.status, first.body['model']], [200, 'paid'])
    assert.equal(first.headers.get('x-gatehouse-switched-model'), null)
    const second = await ask(scene)
    assert.deepEqual([second.status, second.body['model']], [200, 'gatehouse-echo'])
    assert.equal(second.headers.get('x-gatehouse-switched-model'), `gatehouse-echo; budget=${id}`)
    const { app } = scene
    const listed = await app.get('/v1/organization/requests?limit=1', { authorization: `Bearer ${app.adminKey}` })
    const { data } = (await listed.json()) as { data: Json[] }
    assert.equal(data[0]?.['model'], 'gatehouse-echo')
  })

  it('counts a request as an attempt if there is no other model to continue with', async () => {
    const free = { rpm: 10, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
    await using scene = await startPaidApp({ hasEcho: true, config: { ...config, limits: { tiers: { free } } } })
    await makeBudget(scene, { requests: 1, action: 'use_model:gatehouse-echo' })
    const left: (readonly [number, string | null])[] = []
    for (let at = 0; at < 3; at++) {
      const { status, headers } = await ask(scene, { model: 'gatehouse-echo' })
      left.push([status, headers.get('x-ratelimit-remaining-requests')])
    }
    assert.deepEqual(left, [
      [200, '9'],
      [429, '8'],
      [429, '7'],
    ])
  })

  it('that only warns denies nothing', async () => {
    await using scene = await startPaidApp({ hasEcho: true, config })
    await makeBudget(scene, { requests: 1, action: 'warn' })
    assert.deepEqual(await statusesOf(3, () => ask(scene, { model: 'gatehouse-echo' })), { 200: 3 })
  })
})
