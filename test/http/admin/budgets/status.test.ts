import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { scheduler } from 'node:timers/promises'
import { systemClock, type Clock } from '../../../../src/base/clock.ts'
import { itemsOf, startAdminApp, textOf, type AdminApp, type Json } from '../../../support/administration.ts'
import { answerJson, startUpstream, type TestUpstream } from '../../../support/upstream.ts'

const response = {
  id: 'r',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'o',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi' }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
}

/** The jobs of every ten seconds run all the time. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => systemClock.after(delayMs === 10_000 ? 20 : delayMs, callback),
}

describe('what was spent of a budget', () => {
  let upstream: TestUpstream
  let app: AdminApp
  before(async () => {
    upstream = await startUpstream(answerJson(response))
    app = await startAdminApp({
      clock,
      config: {
        budgets: { tags: ['team'] },
        upstreams: [{ name: 'open', kind: 'openai-responses', base_url: upstream.url }],
        // A request costs 0.003 dollars for its input and 0.002 for its answer.
        models: [{ name: 'gpt', targets: [{ upstream: 'open' }], price: { input: 1_000, output: 2_000 } }],
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const infer = async (team: string, user: string): Promise<void> => {
    const answer = await app.post(
      '/v1/responses',
      { model: 'gpt', input: 'Hi', max_output_tokens: 16, store: false, user },
      { authorization: `Bearer ${app.apiKey}`, 'x-policy-tags': `team=${team}` },
    )
    assert.equal(answer.status, 200, await answer.text())
  }
  let count = 0
  const create = async (body: Json): Promise<string> =>
    textOf(
      await app.admin.post('/budgets', {
        name: `Budget ${++count}`,
        period: 'month',
        amount_usd: 1,
        action: 'warn',
        ...body,
      }),
    )
  const membersOf = async (id: string): Promise<Json[]> =>
    ((await app.admin.get(`/budgets/${id}/status`))['members'] as Json[]).map(({ forecast: _, ...member }) => member)

  it('is the cost, the tokens or the requests of each member in the period', async () => {
    const all = await create({ name: 'All' })
    assert.deepEqual(await membersOf(all), [
      { member: null, name: null, amount: 1, spent: 0, held: null, left: 1, percent: 0 },
    ])
    await infer('red', 'ada')
    await infer('red', 'bob')
    await infer('blue', 'ada')
    await until(async () => (await membersOf(all))[0]?.['spent'] === 0.015)
    const expect = async (body: Json, ...members: Json[]): Promise<void> => {
      const id = await create(body)
      assert.partialDeepStrictEqual(await membersOf(id), members)
    }
    await expect(
      { per: 'tag:team' },
      { member: 'red', name: null, amount: 1, spent: 0.01, left: 0.99, percent: 1 },
      { member: 'blue', spent: 0.005, left: 0.995, percent: 0.5 },
    )
    await expect(
      { per: 'user', amount_usd: null, requests: 1 },
      { member: 'ada', spent: 2, left: 0, percent: 200 },
      { member: 'bob', spent: 1, left: 0, percent: 100 },
    )
    await expect({ per: 'project', match: { tags: { team: ['blue'] } } }, { member: app.projectId, spent: 0.005 })
    await expect({ match: { models: ['gpt*'], users: ['ada'] }, amount_usd: null, tokens: 80 }, { spent: 8, left: 72 })
    await expect({ match: { models: ['gpt-*'] } }, { member: null, spent: 0 })
    await expect({ period: 'once', per: 'key', extra: { amount: 1, until: 4_000_000_000, reason: 'r' } }, { amount: 2 })
  })

  it('has the names of projects and keys, and the period in its time zone', async () => {
    const id = await create({ name: 'Projects', per: 'project', time_zone: 'Asia/Kolkata', period: 'day' })
    const status = await app.admin.get(`/budgets/${id}/status`)
    const { name } = await app.admin.get(`/projects/${app.projectId}`)
    assert.partialDeepStrictEqual(status['members'], [{ member: app.projectId, name }])
    const { period_start: start, period_end: end } = status
    assert.equal((Number(start) - 18 * 3_600) % 86_400, 0)
    assert.equal(Number(end) - Number(start), 86_400)
  })

  it('is in the list for each budget, with the member that has the highest share and how many are near', async () => {
    const cases: [body: Json, status: Json][] = [
      [
        { name: 'Listed users', per: 'user', amount_usd: null, requests: 4, warn_at: [50, 90] },
        { members: 2, near: 1, highest: { member: 'ada', name: null, amount: 4, spent: 2, left: 2, percent: 50 } },
      ],
      [
        { name: 'Listed projects', per: 'project', warn_at: [] },
        { members: 1, near: 0, highest: { spent: 0.015 } },
      ],
      [
        { name: 'Listed tags', per: 'tag:team', match: { users: ['nobody'] } },
        { members: 0, near: 0, highest: null },
      ],
      [
        { name: 'Listed all', match: { users: ['nobody'] }, period: 'once' },
        { period_end: null, members: 0, highest: { member: null, spent: 0, left: 1, percent: 0, forecast: null } },
      ],
    ]
    const ids: string[] = []
    for (const [body] of cases) ids.push(await create(body))
    const list = await app.admin.get('/budgets?include=status&search=listed&order=asc')
    assert.deepEqual(
      itemsOf(list).map(({ id }) => id),
      ids,
    )
    const statusIn = (page: Json, at: number): Json => (itemsOf(page)[at]?.['status'] ?? {}) as Json
    for (const [at, [, status]] of cases.entries()) {
      const listed = statusIn(list, at)
      assert.partialDeepStrictEqual(listed, status)
      const whole = await app.admin.get(`/budgets/${ids[at]}/status`)
      assert.equal(listed['period_start'], whole['period_start'])
    }
    const ofProject = (page: Json): Json => statusIn(page, 1)['highest'] as Json
    assert.equal(ofProject(list)['name'], 'Default project')
    const blind = await app.adminWith(['budgets:read'])
    const unnamed = await blind.get('/budgets?include=status&search=listed&order=asc')
    assert.partialDeepStrictEqual(ofProject(unnamed), { member: app.projectId, name: null })
    const plain = itemsOf(await app.admin.get('/budgets?limit=1'))[0]
    assert.equal('status' in (plain ?? {}), false)
  })

  it('is in the list for at most 20 budgets, and an error names the limit otherwise', async () => {
    const answer = await app.get('/v1/organization/budgets?include=status&limit=21', {
      authorization: `Bearer ${app.adminKey}`,
    })
    assert.equal(answer.status, 422)
    assert.match(await answer.text(), /limit: must be at most 20 with include=status/)
  })

  it('says whom a new budget would have stopped', async () => {
    const plan = (body: Json) =>
      app.admin.post('/budgets/plan', { name: 'Budget 1', period: 'day', per: 'user', ...body })
    const nothing = await plan({ amount_usd: 1 })
    assert.partialDeepStrictEqual(nothing, { object: 'organization.budget.plan', data: [], requests: 0, members: 0 })
    assert.equal(Number(nothing['to']) - Number(nothing['from']) > 29 * 86_400, true)
    const stopped = await plan({ requests: 1 })
    assert.partialDeepStrictEqual(stopped, { data: [{ member: 'ada', requests_after: 1 }], requests: 1, members: 1 })
    const users = await plan({ amount_usd: 0.004, extra: { amount: 5, reason: 'r' } })
    assert.deepEqual(
      itemsOf(users).map(({ member }) => member),
      ['ada'],
    )
    const projects = await plan({ per: 'project', amount_usd: 0.005, period: 'once' })
    assert.partialDeepStrictEqual(projects, {
      data: [{ member: app.projectId, name: 'Default project', period_end: null, requests_after: 2 }],
    })
    const blind = await app.adminWith(['budgets:read'])
    const unnamed = await blind.post('/budgets/plan', { name: 'B', requests: 1, period: 'day', per: 'project' })
    assert.partialDeepStrictEqual(unnamed, { data: [{ member: app.projectId, name: null }] })
  })

  it('is reported in the audit log once for each threshold', async () => {
    const id = await create({ name: 'Reported', per: 'user', amount_usd: 0.02, warn_at: [10, 20, 90] })
    const reports = async (): Promise<Json[]> =>
      itemsOf(await app.admin.get('/audit_logs?kind=budget.threshold_reached')).filter(
        (entry) => entry['resource_id'] === id,
      )
    await until(async () => (await reports()).length === 2)
    await scheduler.wait(100)
    const entries = await reports()
    const details = entries.map((entry) => entry['details'] as Json)
    assert.deepEqual(
      details
        .map(({ member, percent, spent, amount }) => [member, percent, spent, amount].join(' '))
        .toSorted((a, b) => a.localeCompare(b)),
      ['ada 20 0.01 0.02', 'bob 20 0.005 0.02'],
    )
  })
})

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await scheduler.wait(20)
}
