import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, startAdminApp, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'
import { operatorOf } from '../../../support/operator.ts'

describe('the audit log', () => {
  const { app, admin, send, policy } = adminSuite()

  it('records actor, request and both revisions of a change', async () => {
    const before = await policy()
    const answer = await send('PATCH', `/policies/${textOf(before)}`, { revision: 1, mode: 'enforcing', name: 'New' })
    const [entry] = itemsOf(await admin().get(`/audit_logs?policy_id=${textOf(before)}`))
    const keys = itemsOf(await admin().get('/admin_api_keys?order=asc'))
    assert.deepEqual(
      { ...entry, id: '', created_at: 0, sequence: 0, fingerprint: '' },
      {
        id: '',
        object: 'organization.audit_log',
        sequence: 0,
        fingerprint: '',
        message: `${String(keys[0]?.['id'])} updated the policy ${textOf(before)}.`,
        kind: 'policy.updated',
        created_at: 0,
        actor: { type: 'admin_key', id: keys[0]?.['id'] },
        request_id: answer.headers.get('x-request-id'),
        resource_id: before['id'],
        policy_id: before['id'],
        project_id: null,
        user_id: null,
        decision: null,
        old_revision: 1,
        new_revision: 2,
        details: { name: 'New', mode: 'enforcing', before: { name: before['name'], mode: 'monitoring' } },
      },
    )
    assert.match(String(entry?.['id']), /^evt_/)
  })

  it('can be filtered by kind and by request', async () => {
    const { headers } = await send('POST', '/projects', { name: 'Traced' })
    const matching = itemsOf(await admin().get(`/audit_logs?request_id=${headers.get('x-request-id')}`))
    assert.deepEqual(
      matching.map(({ kind, details }) => [kind, details]),
      [['project.created', { name: 'Traced' }]],
    )
    const created = itemsOf(await admin().get('/audit_logs?kind=project.created&limit=100'))
    assert.ok(created.length > 0 && created.every(({ kind }) => kind === 'project.created'))
    const wrong = await send('GET', '/audit_logs?kind=project.moved')
    assert.deepEqual([wrong.status, errorOf(wrong)['param']], [422, 'kind'])
  })

  it('can leave requests out', async () => {
    const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
    await (await app().post('/v1/messages', body)).text()
    const kinds = async (query: string) =>
      new Set(itemsOf(await admin().get(`/audit_logs?limit=100${query}`)).map(({ kind }) => kind))
    assert.ok((await kinds('')).has('gateway.request.decided'))
    const changes = await kinds('&without_requests=true')
    assert.ok(changes.size > 0 && !changes.has('gateway.request.decided'))
    const wrong = await send('GET', '/audit_logs?without_requests=maybe')
    assert.deepEqual([wrong.status, errorOf(wrong)['param']], [422, 'without_requests'])
  })

  it('has one entry for each change, and none for a rejected request', async () => {
    await using fresh = await startAdminApp()
    const made = await fresh.admin.post('/policies', { name: 'One', rule: 'r' })
    const path = `/policies/${textOf(made)}`
    for (const [method, rest, body] of [
      ['POST', '/publish', { revision: 9 }],
      ['POST', '/resume', { revision: 1 }],
      ['PATCH', '', { revision: 1, name: '' }],
      ['POST', '/publish', { revision: 1 }],
      ['POST', '/pause', { revision: 2 }],
      ['POST', '/resume', { revision: 3 }],
      ['PATCH', '', { revision: 4, rule: 's' }],
      ['POST', '/publish', { revision: 5 }],
      ['POST', '/rollback', { revision: 6, version: 1 }],
      ['DELETE', '?revision=7', undefined],
    ] as const) {
      await fresh.admin.send(method, path + rest, { body })
    }
    const entries = itemsOf(await fresh.admin.get(`/audit_logs?policy_id=${textOf(made)}&order=asc`))
    assert.deepEqual(
      entries.map(({ kind, old_revision: from, new_revision: to }) => [kind, from, to]),
      [
        ['policy.created', null, 1],
        ['policy.published', 1, 2],
        ['policy.paused', 2, 3],
        ['policy.resumed', 3, 4],
        ['policy.updated', 4, 5],
        ['policy.published', 5, 6],
        ['policy.rolled_back', 6, 7],
        ['policy.deleted', 7, null],
      ],
    )
  })

  it('records changes by an operator on the machine as well', async () => {
    await using fresh = await startAdminApp()
    const operator = operatorOf(fresh.app)
    await operator.grant({ credits: 5, ref: 'once', reason: 'gift' })
    await operator.grant({ credits: 5, ref: 'once', reason: 'gift' })
    await operator.updateOrganization({ plan: 'growth' })
    await operator.setLimits({ limits: { rpm: 7 } })
    await operator.recordPayment({ usd: 20, ref: 'invoice' })
    const entries = itemsOf(await fresh.admin.get('/audit_logs?order=asc'))
    assert.deepEqual(
      entries.map(({ kind, actor }) => [kind, actor]),
      ['organization.created', 'credits.granted', 'organization.updated', 'limits.updated', 'payment.recorded'].map(
        (kind) => [kind, { type: 'operator', id: null }],
      ),
    )
    assert.deepEqual(entries[1]?.['details'], { credits: 5, note: 'gift', ref: 'once' })
  })

  it('begins with the creation of the organization and its first grants', async () => {
    await using fresh = await startAdminApp()
    const [first] = itemsOf(await fresh.admin.get('/audit_logs?order=asc&limit=1'))
    const [adminKey] = itemsOf(await fresh.admin.get('/admin_api_keys'))
    const [applicationKey, apiKey] = itemsOf(await fresh.admin.get(`/projects/${fresh.projectId}/api_keys`))
    assert.deepEqual([first?.['sequence'], first?.['kind']], [1, 'organization.created'])
    assert.equal(first?.['resource_id'], fresh.organizationId)
    assert.deepEqual(first?.['details'], {
      name: 'Test organization',
      credits: 10_000,
      project_id: fresh.projectId,
      admin_key_id: adminKey?.['id'],
      api_key_id: apiKey?.['id'],
      application_key_id: applicationKey?.['id'],
    })
    const other = await fresh.otherOrganization()
    const [firstEvent] = itemsOf(await other.admin.get('/audit_logs?order=asc&limit=1'))
    assert.deepEqual(
      [firstEvent?.['sequence'], firstEvent?.['kind'], firstEvent?.['resource_id']],
      [1, 'organization.created', other.id],
    )
  })

  it('has sequence numbers without a gap, and can be filtered by time, decision and user', async () => {
    const began = Math.floor(Date.now() / 1000)
    const requestBody = { model: 'gatehouse-echo', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
    await (await app().post('/v1/messages', { ...requestBody, metadata: { user_id: 'grace' } })).text()
    const [entry] = itemsOf(await admin().get('/audit_logs?user_id=grace'))
    assert.deepEqual(
      [entry?.['kind'], entry?.['decision'], entry?.['project_id']],
      ['gateway.request.decided', 'allow', app().projectId],
    )
    const counts = [
      'decision=allow',
      'decision=refuse',
      `user_id=grace&to=${began}`,
      `user_id=grace&from=${began}`,
    ].map(async (query) => itemsOf(await admin().get(`/audit_logs?${query}`)).length > 0)
    assert.deepEqual(await Promise.all(counts), [true, false, false, true])
    const all = itemsOf(await admin().get('/audit_logs?order=asc&limit=100')).map(({ sequence }) => sequence)
    assert.deepEqual(
      all,
      all.map((_, at) => at + 1),
    )
  })

  it('lists the public keys that verify its checkpoints', async () => {
    const [key] = itemsOf(await admin().get('/audit_logs/keys'))
    assert.deepEqual([key?.['object'], key?.['algorithm']], ['organization.audit_log.key', 'Ed25519'])
    assert.match(String(key?.['public_key']), /^-----BEGIN PUBLIC KEY-----/)
  })

  it('can only be read with its permission', async () => {
    const holder = await app().adminWith(['policies:read'])
    assert.equal((await holder.send('GET', '/audit_logs')).status, 403)
  })
})
