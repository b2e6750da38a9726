import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, startAdminApp } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

describe('the organization', () => {
  const { app, admin, send } = adminSuite()

  it('is read with its plan and tier', async () => {
    const { created_at: createdAt, ...organization } = await admin().get('')
    assert.deepEqual(organization, {
      id: app().organizationId,
      object: 'organization',
      name: 'Test organization',
      plan: 'free',
      tier: 'free',
      lifetime_paid_usd: 0,
      metered: true,
    })
    assert.equal(typeof createdAt, 'number')
  })

  it('is renamed with projects:write, and its plan is set with credits:write', async () => {
    const [namer, payer] = await Promise.all(['projects:write', 'credits:write'].map((each) => app().adminWith([each])))
    assert.ok(namer && payer)
    const renamed = await namer.send('PATCH', '', { body: { name: 'Renamed' } })
    assert.deepEqual([renamed.status, renamed.body['name']], [200, 'Renamed'])
    const planned = await payer.send('PATCH', '', { body: { plan: 'growth' } })
    assert.deepEqual([planned.status, planned.body['tier'], planned.body['name']], [200, 'tier_2', 'Renamed'])
    for (const [caller, body, missing] of [
      [namer, { plan: 'scale' }, 'credits:write'],
      [namer, { name: 'Again', metered: false }, 'credits:write'],
      [payer, { name: 'Again' }, 'projects:write'],
    ] as const) {
      const answer = await caller.send('PATCH', '', { body })
      assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
      assert.match(String(errorOf(answer)['message']), new RegExp(missing))
    }
    assert.partialDeepStrictEqual(await admin().get(''), { name: 'Renamed', plan: 'growth', metered: true })
    const events = itemsOf(await admin().get('/audit_logs?kind=organization.updated'))
    assert.deepEqual(
      events.map(({ details }) => details),
      [
        { plan: 'growth', before: { plan: 'free' } },
        { name: 'Renamed', before: { name: 'Test organization' } },
      ],
    )
  })

  it('rejects an unknown plan and a name of spaces, naming the field', async () => {
    for (const [body, param] of [
      [{ plan: 'gold' }, 'plan'],
      [{ name: '  ' }, 'name'],
      [{ name: 'x'.repeat(81) }, 'name'],
    ] as const) {
      const answer = await send('PATCH', '', body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
    }
  })
})

describe('an installation whose administrators do not manage credits', () => {
  it('leaves credits, plans and limits to its operator', async () => {
    await using app = await startAdminApp({ config: { credits: { administrators_manage: false } } })
    const attempts = [
      ['PATCH', '', { plan: 'scale' }],
      ['PATCH', '', { metered: false }],
      ['POST', '/credits/grants', { credits: 5 }],
      ['POST', '/credits/corrections', { credits: 5 }],
      ['POST', '/credits/payments', { usd: 5, ref: 'r' }],
      ['PUT', '/limits/overrides', { limits: { rpm: 0 } }],
    ] as const
    for (const [method, path, body] of attempts) {
      const answer = await app.admin.send(method, path, { body })
      assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'], path)
      assert.match(String(errorOf(answer)['message']), /Only the operator/)
    }
    assert.equal(Object(await app.admin.get('/me'))['features']['credits'], false)
    assert.equal((await app.admin.send('PATCH', '', { body: { name: 'Renamed' } })).status, 200)
    assert.equal((await app.admin.send('GET', '/credits')).status, 200)
    const client = app.app.client
    await client.post('/v1/organization/credits/grants', { credits: 5 })
    assert.equal((await app.admin.get('/credits'))['granted_credits'], 10_005)
  })
})

describe('an installation whose requests can have tags', () => {
  it('names them, for clients that group and limit by tag', async () => {
    await using app = await startAdminApp({ config: { budgets: { tags: ['team', 'env'] } } })
    assert.deepEqual((await app.admin.get('/me'))['tags'], ['team', 'env'])
  })
})
