import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, question, startPaidApp, type PaidApp } from '../support/paid-app.ts'
import { operatorOf } from '../support/operator.ts'

const usagePath = '/v1/organization/usage'
const ledgerPath = '/v1/organization/credits/ledger'
const limitsPath = '/v1/organization/limits'
const checkPath = '/v1/organization/limits/check'

const free = { rpm: 10, tpm: 1000, rpd: 100, tpd: 0, concurrent: { key: 4, project: 6, organization: 8 } }
const config = { limits: { tiers: { free } } }

const asAdmin = ({ app }: PaidApp) => ({ authorization: `Bearer ${app.adminKey}` })
const read = async (scene: PaidApp, path: string): Promise<Answer> =>
  (await scene.app.get(path, asAdmin(scene))).json() as Promise<Answer>
type Gauge = { readonly limit: number; readonly remaining: number }
type Answer = {
  readonly tier: string
  readonly plan: string
  readonly scopes: Readonly<Record<string, Readonly<Record<string, Gauge | null>>>>
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly has_more: boolean
  readonly last_id: string
  readonly start_time: number
  readonly next_page: string | null
}

describe('GET /v1/credits', () => {
  it('reports grants and usage in dollars, and the balance in credits', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    await (await scene.app.post('/v1/messages', question)).arrayBuffer()
    const answer = await scene.app.get('/v1/credits')
    assert.equal(answer.status, 200)
    assert.deepEqual(await answer.json(), {
      data: { total_credits: 10, total_usage: 0.015, remaining_credits: 9985, remaining_usd: 9.985, currency: 'USD' },
    })
  })

  it('reports the remaining dollars exactly, also if only a part of a credit is used', async () => {
    await using scene = await startPaidApp({
      config: { models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 0.1, output: 0.4 } }] },
    })
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    await (await scene.app.post('/v1/messages', question)).arrayBuffer()
    const { data } = (await (await scene.app.get('/v1/credits')).json()) as { data: Record<string, number> }
    assert.deepEqual([data['total_credits'], data['total_usage'], data['remaining_credits']], [10, 0.0000024, 9999])
    assert.equal(data['remaining_usd'], 9.9999976)
  })

  it('reports null credits if the organization is not metered', async () => {
    await using scene = await startPaidApp()
    await operatorOf(scene.app.app).updateOrganization({ metered: false })
    const { data } = (await (await scene.app.get('/v1/credits')).json()) as { data: { remaining_credits: unknown } }
    assert.equal(data.remaining_credits, null)
  })

  it('answers a key sixty times a minute, independent of all other limits', async () => {
    await using scene = await startPaidApp({ config })
    for (let count = 0; count < 60; count++) assert.equal((await scene.app.get('/v1/credits')).status, 200)
    const rejected = await scene.app.get('/v1/credits')
    assert.equal(rejected.status, 429)
    assert.ok(Number(rejected.headers.get('retry-after')) >= 1)
    const { error } = (await rejected.json()) as { error: { code: string; type: string } }
    assert.deepEqual([error.code, error.type], ['rate_limit_exceeded', 'rate_limit_error'])
    scene.upstream.answer(answerWith('Hello', { input: 1, output: 1 }))
    const inference = await scene.app.post('/v1/messages', question)
    assert.equal(inference.headers.get('x-ratelimit-remaining-requests'), '9')
  })

  it('answers an organization three hundred times a minute, however many keys it has', async () => {
    await using scene = await startPaidApp({ config })
    const operator = operatorOf(scene.app.app)
    const keys = await Promise.all(Array.from({ length: 5 }, (_, at) => operator.createKey({ name: `key ${at}` })))
    const statuses: number[] = []
    for (const { value: secret } of keys) {
      const headers = { authorization: `Bearer ${secret}` }
      for (let count = 0; count < 60; count++) statuses.push((await scene.app.get('/v1/credits', headers)).status)
    }
    assert.equal(statuses.filter((status) => status === 200).length, 300)
    assert.equal((await scene.app.get('/v1/credits')).status, 429)
  })

  it('accepts only keys of a project', async () => {
    await using scene = await startPaidApp()
    assert.equal((await scene.app.get('/v1/credits', asAdmin(scene))).status, 401)
    assert.equal((await scene.app.get('/v1/credits', {})).status, 401)
  })
})

describe('administration of limits and credits', () => {
  it('shows the tier and the usage of each scope', async () => {
    await using scene = await startPaidApp({ config })
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    await (await scene.app.post('/v1/messages', question)).arrayBuffer()
    const { api_keys: apiKeys } = await operatorOf(scene.app.app).listKeys()
    const path = `${limitsPath}?project_id=${scene.app.projectId}&api_key_id=${apiKeys[0]?.id}`
    const { tier, plan, scopes } = await read(scene, path)
    assert.deepEqual([tier, plan], ['free', 'free'])
    const { key, project, organization } = scopes as Record<
      string,
      Record<string, { limit: number; remaining: number }>
    >
    assert.deepEqual([key?.['rpm']?.limit, key?.['rpm']?.remaining, key?.['tpm']?.remaining], [10, 9, 985])
    assert.deepEqual([project?.['rpm']?.limit, organization?.['rpm']?.remaining], [15, 19])
    assert.deepEqual(organization?.['concurrent'], { limit: 8, remaining: 8 })
    assert.equal(organization?.['tpd'], null)
    const again = await read(scene, path)
    assert.equal(again.scopes['key']?.['rpm']?.remaining, 9) // reading counts nothing
  })

  it('shows the usage by time and group', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    await (await scene.app.post('/v1/messages', question)).arrayBuffer()
    const { data } = await read(scene, `${usagePath}?bucket=hour&group_by=model`)
    assert.deepEqual(data[0]?.['results'], [
      {
        project_id: null,
        api_key_id: null,
        model: 'paid',
        user_id: null,
        requests: 1,
        input_tokens: 12,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 3,
        credits: 15,
        cost_usd: 0.015,
      },
    ])
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    await (await scene.app.post('/v1/messages', { ...question, metadata: { user_id: 'ada' } })).arrayBuffer()
    const now = Math.ceil(Date.now() / 1_000)
    const { data: byUser } = await read(scene, `${usagePath}?group_by=user`)
    const results = byUser.flatMap((bucket) => bucket['results'] as { user_id: string | null; requests: number }[])
    assert.deepEqual(
      results.map(({ user_id: user, requests }) => [user, requests]),
      [
        [null, 1],
        ['ada', 1],
      ],
    )
    const total = await read(scene, `${usagePath}?bucket=total&start_time=${now - 86_400}&end_time=${now + 60}`)
    assert.deepEqual(
      total.data.map(({ results: sums, ...bucket }) => [bucket, (sums as { requests: number }[])[0]?.requests]),
      [[{ start_time: now - 86_400, end_time: now + 60 }, 2]],
    )
    assert.deepEqual([total.has_more, total.next_page], [false, null])
    for (const wrong of ['start_time=5&end_time=5', 'start_time=0', 'bucket=year', 'group_by=color']) {
      assert.equal((await scene.app.get(`${usagePath}?${wrong}`, asAdmin(scene))).status, 422, wrong)
    }
  })

  it('continues usage with the page that follows, and rejects any other cursor', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    await (await scene.app.post('/v1/messages', question)).arrayBuffer()
    const dayMs = 86_400_000
    const today = Math.floor(Date.now() / dayMs) * dayMs
    const page = `page=${today - 3 * dayMs}-${today + dayMs}-${today}`
    const { data, start_time: start, has_more: hasMore } = await read(scene, `${usagePath}?start_time=5&${page}`)
    assert.deepEqual([data.length, start, hasMore], [1, (today - 3 * dayMs) / 1_000, false])
    for (const wrong of ['x', `${today}-${today + dayMs}-${today}`, `${today}-${today + 1}-${today + 2}`]) {
      const response = await scene.app.get(`${usagePath}?page=${wrong}`, asAdmin(scene))
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.deepEqual([response.status, error['code'], error['param']], [400, 'invalid_cursor', 'page'], wrong)
    }
    const tooLong = `${usagePath}?page=0-${today}-${dayMs}`
    assert.equal((await scene.app.get(tooLong, asAdmin(scene))).status, 422)
  })

  it('shows the ledger, with a receipt for each charge', async () => {
    await using scene = await startPaidApp()
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    const answer = await scene.app.post('/v1/messages', question)
    await answer.arrayBuffer()
    const { data, has_more: hasMore, last_id: lastId } = await read(scene, `${ledgerPath}?limit=1`)
    const [entry] = data
    assert.deepEqual([entry?.['kind'], entry?.['credits'], hasMore], ['usage', -15, true])
    const receipt = entry?.['receipt'] as Record<string, unknown>
    assert.equal(receipt['request_id'], answer.headers.get('x-request-id'))
    assert.deepEqual([receipt['input_tokens'], receipt['token_source']], [12, 'reported'])
    const rest = await read(scene, `${ledgerPath}?after=${lastId}`)
    assert.deepEqual(
      rest.data.map(({ ref }) => ref),
      ['start'],
    )
    assert.equal((await scene.app.get(`${ledgerPath}?after=nothing`, asAdmin(scene))).status, 400)
  })

  it('shows whether a request would be admitted, and counts nothing', async () => {
    await using scene = await startPaidApp({ config })
    const send = async (body: object) =>
      (await (await scene.app.post(checkPath, body, asAdmin(scene))).json()) as Record<string, unknown>
    const checkBody = { project_id: scene.app.projectId, model: 'paid', input_tokens: 100, max_tokens: 400 }
    const passing = await send(checkBody)
    assert.deepEqual([passing['would_pass'], passing['reason']], [true, null])
    assert.deepEqual(passing['holds'], { tokens: 500, credits: 500 })
    const large = await send({ ...checkBody, max_tokens: 2000 })
    assert.deepEqual([large['would_pass'], large['reason'], large['scope']], [false, 'tpm', 'key'])
    assert.equal(large['retry_after_seconds'], null)
    await operatorOf(scene.app.app).setLimits({ limits: { rpm: 0, tpm: 0 } })
    for (const scope of ['project', 'key'] as const) {
      const { api_keys: apiKeys } = await operatorOf(scene.app.app).listKeys()
      const subject = scope === 'project' ? { project_id: scene.app.projectId } : { api_key_id: apiKeys[0]?.id ?? '' }
      await operatorOf(scene.app.app).setLimits({ ...subject, limits: { rpm: 0, tpm: 0 } })
    }
    const { api_keys: apiKeys } = await operatorOf(scene.app.app).listKeys()
    const poor = await send({ ...checkBody, api_key_id: apiKeys[0]?.id, max_tokens: 20_000 })
    assert.deepEqual([poor['would_pass'], poor['reason']], [false, 'credits'])
    assert.equal(scene.upstream.requests.length, 0)
    const { scopes } = await read(scene, limitsPath)
    assert.equal(scopes['organization']?.['rpd']?.remaining, 200)
  })

  it('names unknown ids and parameters', async () => {
    await using scene = await startPaidApp({ config })
    const send = async (body: object) => {
      const answer = await scene.app.post(checkPath, body, asAdmin(scene))
      return [answer.status, ((await answer.json()) as { error: { param: string } }).error.param]
    }
    const checkBody = { project_id: scene.app.projectId, model: 'paid', input_tokens: 1 }
    assert.deepEqual(await send({ ...checkBody, project_id: 'proj_none' }), [422, 'project_id'])
    assert.deepEqual(await send({ ...checkBody, api_key_id: 'key_none' }), [422, 'api_key_id'])
    assert.deepEqual(await send({ ...checkBody, model: 'none' }), [422, 'model'])
    assert.deepEqual(await send({ ...checkBody, input_tokens: -1 }), [422, 'input_tokens'])
  })

  it('requires its permissions', async () => {
    await using scene = await startPaidApp()
    const operator = operatorOf(scene.app.app)
    const { value: secret } = await operator.createAdminKey({ name: 'other', permissions: ['keys:read'] })
    const headers = { authorization: `Bearer ${secret}` }
    for (const path of [usagePath, ledgerPath, limitsPath]) {
      assert.equal((await scene.app.get(path, headers)).status, 403, path)
    }
    assert.equal((await scene.app.post(checkPath, {}, headers)).status, 403)
  })
})
