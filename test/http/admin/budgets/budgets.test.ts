import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'

describe('budgets', () => {
  const { admin, app, send } = adminSuite()
  const audited = async (id: string): Promise<Json[]> =>
    itemsOf(await admin().get('/audit_logs')).filter((entry) => entry['resource_id'] === id)
  let count = 0
  const create = async (fields: Json = {}): Promise<Json> => {
    const body = { name: `Budget ${++count}`, amount_usd: 5, period: 'day', ...fields }
    const created = await send('POST', '/budgets', body)
    assert.equal(created.status, 201, JSON.stringify(created.body))
    return created.body
  }

  it('are created with defaults, changed and deleted, with an audit event for each that has before and after', async () => {
    const budget = await create({ name: 'Team red', amount_usd: 0.000001 })
    const id = textOf(budget)
    const { created_at: createdAt, updated_at: updatedAt, ...shown } = budget
    assert.equal(createdAt, updatedAt)
    assert.deepEqual(shown, {
      id,
      object: 'organization.budget',
      name: 'Team red',
      match: { project_ids: [], api_key_ids: [], models: [], users: [], tags: {} },
      per: 'all',
      amount_usd: 0.000001,
      tokens: null,
      requests: null,
      period: 'day',
      time_zone: 'UTC',
      action: 'deny',
      warn_at: [50, 80, 95],
      extra: null,
      state: 'active',
      revision: 1,
    })
    assert.deepEqual(await admin().get(`/budgets/${id}`), budget)
    const match = { project_ids: [app().projectId], models: ['gpt-*'] }
    const patch = { revision: 1, match, per: 'user', requests: 37, warn_at: [90, 10, 90], time_zone: 'Asia/Kolkata' }
    const changed = await send('PATCH', `/budgets/${id}`, patch)
    assert.partialDeepStrictEqual(changed.body, {
      match: { ...match, api_key_ids: [] },
      per: 'user',
      amount_usd: null,
      requests: 37,
      warn_at: [10, 90],
      revision: 2,
    })
    const paused = await send('PATCH', `/budgets/${id}`, { revision: 2, state: 'paused', action: 'warn' })
    assert.equal(paused.body['state'], 'paused')
    assert.deepEqual((await send('DELETE', `/budgets/${id}`)).body, {
      id,
      object: 'organization.budget.deleted',
      deleted: true,
    })
    assert.equal((await send('GET', `/budgets/${id}`)).status, 404)
    const entries = (await audited(id)).toReversed()
    assert.deepEqual(
      entries.map((entry) => entry['kind']),
      ['budget.created', 'budget.updated', 'budget.updated', 'budget.deleted'],
    )
    assert.partialDeepStrictEqual(entries[1]?.['details'], {
      requests: 37,
      amount_usd: null,
      before: { requests: null, amount_usd: 0.000001 },
    })
    assert.deepEqual(entries[2]?.['details'], {
      name: 'Team red',
      action: 'warn',
      state: 'paused',
      before: { action: 'deny', state: 'active' },
    })
    assert.partialDeepStrictEqual(entries[3]?.['details'], { name: 'Team red', requests: 37 })
  })

  it('are changed only if the caller has read the last revision', async () => {
    const id = textOf(await create())
    const change = { revision: 1, amount_usd: 6 }
    assert.equal((await send('PATCH', `/budgets/${id}`, change)).status, 200)
    const again = await send('PATCH', `/budgets/${id}`, change)
    assert.deepEqual([again.status, errorOf(again)['code']], [409, 'revision_conflict'])
    const same = await send('PATCH', `/budgets/${id}`, { revision: 2, amount_usd: 6 })
    assert.deepEqual([same.status, same.body['revision']], [200, 2])
  })

  it('have an extra until the end of the period, or earlier', async () => {
    const budget = await create({ extra: { amount: 2.5, reason: 'Launch' } })
    const nextDay = Math.ceil(Date.now() / 86_400_000) * 86_400
    assert.deepEqual(budget['extra'], { amount: 2.5, until: nextDay, reason: 'Launch' })
    const path = `/budgets/${textOf(budget)}`
    assert.deepEqual((await send('PATCH', path, { revision: 1, amount_usd: 9 })).body['extra'], budget['extra'])
    assert.equal((await send('PATCH', path, { revision: 2, period: 'week' })).body['extra'], null)
    const late = await send('PATCH', path, {
      revision: 3,
      extra: { amount: 1, until: nextDay + 8 * 86_400, reason: 'r' },
    })
    assert.match(
      String(errorOf(late)['message']),
      /extra\.until: must not be after the end of the current period, \d{4}-/,
    )
    const once = await send('POST', '/budgets', {
      name: 'Once',
      amount_usd: 1,
      period: 'once',
      extra: { amount: 1, reason: 'r' },
    })
    assert.match(String(errorOf(once)['message']), /extra\.until: is required/)
  })

  it('are rejected with the name of the field that is wrong', async () => {
    const other = await app().otherOrganization()
    const cases: [body: Json, param: string, message: RegExp][] = [
      [{ amount_usd: null }, 'amount_usd', /is required/],
      [{ tokens: 5 }, 'tokens', /only one/],
      [{ amount_usd: 0 }, 'amount_usd', /more than 0/],
      [{ amount_usd: 0.0000001 }, 'amount_usd', /6 decimals/],
      [{ amount_usd: null, requests: 1.5 }, 'requests', /integer|whole/],
      [{ period: 'year' }, 'period', /day/],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone', /Europe\/Berlin/],
      [{ time_zone: '+02:00' }, 'time_zone', /IANA/],
      [{ action: 'use_model:nothing' }, 'action', /model that the organization can use/],
      [{ action: 'stop' }, 'action', /./],
      [{ per: 'day' }, 'per', /./],
      [{ per: 'tag:team' }, 'per', /budgets\.tags/],
      [{ match: { tags: { team: ['red'] } } }, 'match.tags.team', /budgets\.tags/],
      [{ match: { project_ids: [app().projectId, other.projectId] } }, 'match.project_ids[1]', /project of the org/],
      [{ match: { api_key_ids: ['key_nobody'] } }, 'match.api_key_ids[0]', /key of the org/],
      [{ warn_at: [0] }, 'warn_at[0]', /1/],
      [{ extra: { amount: 1, until: 1, reason: 'r' } }, 'extra.until', /future/],
      [{ extra: { amount: 1 } }, 'extra.reason', /required/],
      [{ name: ' ' }, 'name', /spaces/],
    ]
    for (const [body, param, message] of cases) {
      const answer = await send('POST', '/budgets', { name: 'Wrong', amount_usd: 5, period: 'day', ...body })
      assert.equal(answer.status, 422, JSON.stringify([body, answer.body]))
      assert.equal(errorOf(answer)['param'], param, JSON.stringify(answer.body))
      assert.match(String(errorOf(answer)['message']), message)
    }
  })

  it('may name a model of the organization that takes over', async () => {
    assert.equal((await create({ action: 'use_model:gatehouse-echo' }))['action'], 'use_model:gatehouse-echo')
  })

  it('have names of their own, and are found by a part of them and by their state', async () => {
    const id = textOf(await create({ name: 'Straße', state: 'paused' }))
    const taken = await send('POST', '/budgets', { name: 'STRASSE', requests: 1, period: 'once' })
    assert.deepEqual([taken.status, errorOf(taken)['code']], [409, 'duplicate_name'])
    const found = await admin().get('/budgets?search=strass&state=paused')
    assert.deepEqual(
      itemsOf(found).map((each) => textOf(each)),
      [id],
    )
    assert.deepEqual(itemsOf(await admin().get('/budgets?search=strass&state=active')), [])
  })

  it('are at most 200 for an organization', async () => {
    const other = await app().otherOrganization()
    const body = (at: number): Json => ({ name: `Budget ${at}`, tokens: 1, period: 'once' })
    for (let at = 0; at < 200; at++) await other.admin.post('/budgets', body(at))
    const answer = await other.admin.send('POST', '/budgets', { body: body(200) })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'budget_limit_reached'])
  })
})
