import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CostsBody } from '../../../../src/http/admin/costs/schema.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'

const price = { input: 7, output: 1_000 }

describe('the costs of an organization', () => {
  let app: TestApp
  let admin: { authorization: string }
  before(async () => {
    app = await startTestApp({
      config: {
        budgets: { tags: ['team'] },
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [
          { name: 'cheap', targets: [{ upstream: 'echo', model: 'gatehouse-echo' }], price },
          {
            name: 'dear-1',
            targets: [{ upstream: 'echo', model: 'gatehouse-echo' }],
            price: { input: 9, output: 3_333 },
          },
        ],
      },
    })
    admin = { authorization: `Bearer ${app.adminKey}` }
    await ask('cheap', 'team=red')
    await ask('cheap', 'team=red', 'ada')
    await ask('dear-1', 'team=red')
    await ask('dear-1', 'team==1+1')
    await ask('cheap')
  })
  after(() => app[Symbol.asyncDispose]())

  async function ask(model: string, tags?: string, user?: string): Promise<void> {
    const body = { model, max_tokens: 20, messages: [{ role: 'user', content: 'One two three' }] }
    const answer = await app.post('/v1/messages', body, {
      authorization: `Bearer ${app.apiKey}`,
      ...(tags !== undefined && { 'x-policy-tags': tags }),
      ...(user !== undefined && { 'x-policy-user': user }),
    })
    assert.equal(answer.status, 200, await answer.text())
  }
  const get = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    app.get(`/v1/organization/costs?${query}`, { ...admin, ...headers })
  const read = async (query: string): Promise<CostsBody> => (await (await get(query)).json()) as CostsBody
  const sumOf = (rows: CostsBody['data']): number =>
    rows.reduce((sum, { cost_usd: usd }) => sum + Math.round(usd * 1e6), 0)

  it('are grouped by tag, and their total equals the ledger', async () => {
    const { data, total, has_more: hasMore, other } = await read('group_by=tag:team')
    assert.deepEqual(
      data.map(({ tags, requests, project_id: project }) => [tags, requests, project]),
      [
        [{ team: 'red' }, 3, null],
        [{ team: '=1+1' }, 1, null],
        [{ team: null }, 1, null],
      ],
    )
    assert.deepEqual([hasMore, other, total.requests], [false, null, 5])
    assert.equal(sumOf(data), Math.round(total.cost_usd * 1e6))
    const ledger = await app.get('/v1/organization/credits/ledger?kind=usage&limit=100', admin)
    const { data: entries } = (await ledger.json()) as { data: { credits: number }[] }
    const credits = entries.reduce((sum, entry) => sum - entry.credits, 0)
    assert.equal(Math.round(total.cost_usd * 1e6), Math.round(credits * 1_000))
  })

  it('are grouped by up to three dimensions with the names of projects and keys', async () => {
    const today = Math.floor(Date.now() / 86_400_000) * 86_400
    const { data } = await read('group_by=project,key,day&from=' + String(today - 86_400))
    assert.equal(data.length, 1)
    const { project_id: project, project_name: name, api_key_name: keyName, day } = data[0] ?? assert.fail()
    assert.equal(project, app.projectId)
    assert.ok(name !== null && name !== '' && keyName !== null && keyName !== '')
    assert.equal(day, today)
    const users = await read('group_by=model&group_by=user')
    assert.deepEqual(
      users.data.map(({ model, user_id: user, requests }) => [model, user, requests]),
      [
        ['dear-1', null, 2],
        ['cheap', null, 2],
        ['cheap', 'ada', 1],
      ],
    )
  })

  it('hide the names of what the caller may not read', async () => {
    const body = { name: 'Finance', permissions: ['usage:read'] }
    const made = await app.post('/v1/organization/admin_api_keys', body, admin)
    const { value } = (await made.json()) as { value: string }
    const answer = await get('group_by=project', { authorization: `Bearer ${value}` })
    const { data } = (await answer.json()) as CostsBody
    assert.deepEqual([data[0]?.project_id, data[0]?.project_name], [app.projectId, null])
  })

  it('sum up the groups beyond the limit', async () => {
    const { data, other, has_more: hasMore, total } = await read('group_by=model,user&limit=1')
    assert.deepEqual(
      data.map(({ model }) => model),
      ['dear-1'],
    )
    assert.equal(hasMore, true)
    assert.equal(other?.requests, 3)
    assert.equal(total.requests, 5)
  })

  it('are filtered by project, key, model, user and tag', async () => {
    const { data: keys } = await read('group_by=key')
    for (const [query, requests] of [
      [`project_id=${app.projectId}`, 5],
      ['project_id=proj_other', 0],
      [`api_key_id=${String(keys[0]?.api_key_id)}`, 5],
      ['model=cheap', 3],
      ['model=dear*', 2],
      ['user_id=ada', 1],
      ['tag=team=red', 3],
      ['tag=team=red&tag=team==1%2B1&model=dear*', 2],
    ] as const)
      assert.equal((await read(query)).total.requests, requests, query)
  })

  it('are CSV without formulas, also by the header Accept', async () => {
    const lines = async (query: string, headers = {}) => {
      const answer = await get(query, headers)
      assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="costs.csv"')
      return (await answer.text()).trimEnd().split('\r\n')
    }
    const sums = 'requests,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,cost_usd'
    const byTag = await lines('group_by=tag:team,model&format=csv')
    assert.equal(byTag[0], `tag:team,model,${sums}`)
    assert.match(byTag[1] ?? '', /^'=1\+1,dear-1,1,\d+,0,0,\d+,\d+\.\d{6}$/)
    const byDay = await lines('group_by=day,project&limit=1', { accept: 'text/csv' })
    assert.equal(byDay[0], `day,project_id,project_name,${sums}`)
    assert.match(byDay[1] ?? '', /^\d{4}-\d{2}-\d{2},proj_/)
    const limited = await lines('group_by=model&limit=1&format=csv')
    assert.match(limited[2] ?? '', /^\(other\),3,/)
  })

  it('are rejected with the name of the wrong field', async () => {
    for (const [query, says] of [
      ['group_by=project,key,model,user', 'group_by: must have at most 3 dimensions'],
      [
        'group_by=colour',
        'group_by: must be of project, key, model, user, day and tag:NAME, and colour is none of them',
      ],
      ['group_by=tag:env', 'group_by: names the tag env, and it is not in the setting budgets.tags, which has team'],
      ['tag=env=prod', 'tag: names the tag env, and it is not in the setting budgets.tags, which has team'],
      ['tag=red', 'tag: must be a name and a value, such as team=red'],
      ['from=20&to=10', 'from: must be before to'],
      ['from=0&to=40000000', 'from: must be at most 366 days before to'],
    ] as const) {
      const answer = await get(query)
      const { error } = (await answer.json()) as { error: { message: string } }
      assert.equal(answer.status, 422, query)
      assert.equal(error.message, says)
    }
  })
})
