import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { scheduler } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import {
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type AdminApp,
  type Json,
} from '../../../../support/administration.ts'

describe('a backtest of a draft over HTTP', () => {
  let app: AdminApp
  before(async () => {
    app = await startAdminApp({ config: { audit: { content: 'full' } } })
    for (const content of ['What is Falcon?', 'Hello', 'falcons and Falcon', 'Write to ann@example.com']) {
      const body = { model: 'gatehouse-echo', max_tokens: 32, messages: [{ role: 'user', content }] }
      assert.equal((await app.post('/v1/messages', body)).status, 200)
    }
  })
  after(() => app[Symbol.asyncDispose]())

  const draft = (fields: Json): Promise<Json> =>
    app.admin.post('/policies', { name: `Draft ${randomUUID()}`, ...fields })

  async function completed(policyId: string, id: string): Promise<Json> {
    for (;;) {
      const backtest = await app.admin.get(`/policies/${policyId}/backtest/${id}`)
      if (backtest['status'] !== 'running') return backtest
      await scheduler.wait(50)
    }
  }

  it('replaces fields of the draft for itself only', async () => {
    const policy = await draft({ rule: 'Never mention "Falcon".', direction: 'request' })
    const path = `/policies/${textOf(policy)}/backtest`
    const { body } = await app.admin.send('POST', path, { body: { changes: { rule: 'Never mention "Hello".' } } })
    const { has_changes: hasChanges, result } = await completed(textOf(policy), textOf(body))
    assert.equal(hasChanges, true)
    assert.partialDeepStrictEqual(result, { newly_blocked: 1 })
    const { draft: kept, revision } = await app.admin.get(`/policies/${textOf(policy)}`)
    assert.partialDeepStrictEqual({ kept, revision }, { kept: { rule: 'Never mention "Falcon".' }, revision: 1 })
  })

  it('rejects an invalid rule among the changes, and names it', async () => {
    const policy = await draft({ rule: 'Never mention "Falcon".' })
    const body = { changes: { rule: 'cel:nonsense(' } }
    const rejected = await app.admin.send('POST', `/policies/${textOf(policy)}/backtest`, { body })
    assert.equal(rejected.status, 422)
    assert.equal(errorOf(rejected)['param'], 'changes.rule')
  })

  it('starts at once, and ends with the decisions that the draft would have changed', async () => {
    const policyId = textOf(await draft({ rule: 'Never mention "Falcon".', direction: 'request' }))
    const { status, body } = await app.admin.send('POST', `/policies/${policyId}/backtest`, { body: {} })
    assert.equal(status, 201)
    assert.partialDeepStrictEqual(body, {
      object: 'organization.policy.backtest',
      policy_id: policyId,
      revision: 1,
      status: 'running',
      progress: { done: 0, total: 1000 },
      limit: 1000,
      sample_percent: 100,
      result: null,
      error: null,
    })
    const backtest = await completed(policyId, textOf(body))
    const counts = { newly_blocked: 2, newly_allowed: 0, changed_reason: 0, unchanged: 2, not_evaluated: 0 }
    assert.partialDeepStrictEqual(backtest, {
      status: 'completed',
      progress: { done: 4, total: 4 },
      result: {
        threshold_basis_points: 5000,
        ...counts,
        projects: [{ project_id: app.projectId, ...counts }],
        coverage: { events: 4, sampled: 4, with_text: 4, redacted_only: 0, from_sample: 0 },
      },
    })
    assert.ok(!JSON.stringify(backtest).includes('Falcon'))
  })

  it('is started only by a key that may read the texts, because its counts reveal them', async () => {
    const policyId = textOf(await draft({ rule: 'Never mention "Falcon".' }))
    const path = `/policies/${policyId}/backtest`
    const writer = await app.adminWith(['policies:read', 'policies:write', 'audit:read'])
    const rejected = await writer.send('POST', path, { body: {} })
    assert.equal(rejected.status, 403)
    assert.match(String(errorOf(rejected)['message']), /content:read/)
    assert.deepEqual(itemsOf(await app.admin.get(path)), [])
    const reader = await app.adminWith(['policies:read', 'policies:write', 'content:read'])
    assert.equal((await reader.send('POST', path, { body: {} })).status, 201)
  })

  it('names examples that are in the audit log', async () => {
    const policyId = textOf(await draft({ rule: 'cel:pii["email"] > 0 ? 0.75 : 0.0', direction: 'request' }))
    const order = { thresholds: [7000, 8000] }
    const { id } = await app.admin.post(`/policies/${policyId}/backtest`, order)
    const { result } = await completed(policyId, String(id))
    assert.partialDeepStrictEqual(result, {
      newly_blocked: 1,
      sweep: [
        { threshold_basis_points: 5000, blocked: 1, newly_blocked: 1, newly_allowed: 0 },
        { threshold_basis_points: 7000, blocked: 1, newly_blocked: 1, newly_allowed: 0 },
        { threshold_basis_points: 8000, blocked: 0, newly_blocked: 0, newly_allowed: 0 },
      ],
    })
    const { examples } = { ...(result as { examples: { newly_blocked: string[] } }) }
    const logged = itemsOf(await app.admin.get('/audit_logs?kind=gateway.request.decided')).map((each) => each['id'])
    assert.ok(logged.includes(examples.newly_blocked[0]))
    const { scores, example_requests: requests } = { ...(result as { scores: Json[]; example_requests: Json[] }) }
    assert.deepEqual(scores, [
      { from_basis_points: 0, allowed: 3, blocked_by_policy: 0, other: 0 },
      { from_basis_points: 7500, allowed: 1, blocked_by_policy: 0, other: 0 },
    ])
    assert.partialDeepStrictEqual(requests, [
      { event_id: examples.newly_blocked[0], change: 'newly_blocked', score_basis_points: 7500 },
    ])
    const request = await app.admin.get(`/requests/${String(requests[0]?.['request_id'])}`)
    assert.equal(request['event_id'], examples.newly_blocked[0])
  })

  it('knows the scores of requests that the draft would allow', async () => {
    const policyId = textOf(await draft({ rule: 'cel:pii["email"] > 0 ? 0.3 : 0.0', direction: 'request' }))
    const { id } = await app.admin.post(`/policies/${policyId}/backtest`, { thresholds: [3000, 3100] })
    assert.partialDeepStrictEqual((await completed(policyId, String(id)))['result'], {
      newly_blocked: 0,
      sweep: [
        { threshold_basis_points: 3000, blocked: 1, newly_blocked: 1 },
        { threshold_basis_points: 3100, blocked: 0 },
        { threshold_basis_points: 5000, blocked: 0 },
      ],
      scores: [
        { from_basis_points: 0, allowed: 3 },
        { from_basis_points: 3000, allowed: 1 },
      ],
    })
  })

  it('reports rules that cannot be evaluated separately', async () => {
    const policyId = textOf(await draft({ rule: 'Be kind.' }))
    const { id } = await app.admin.post(`/policies/${policyId}/backtest`, { limit: 3 })
    assert.partialDeepStrictEqual(await completed(policyId, String(id)), {
      progress: { done: 3, total: 3 },
      result: { not_evaluated: 3, newly_blocked: 0, unchanged: 0 },
    })
  })

  it('is recorded in the audit log with its actor', async () => {
    const policyId = textOf(await draft({ rule: 'cel:true' }))
    const { id } = await app.admin.post(`/policies/${policyId}/backtest`, {})
    const [entry] = itemsOf(await app.admin.get('/audit_logs?kind=backtest.created'))
    assert.partialDeepStrictEqual(entry, {
      resource_id: id,
      actor: { type: 'admin_key' },
      details: { policy_id: policyId },
    })
  })

  it('is listed with the others of its policy, newest first', async () => {
    const policyId = textOf(await draft({ rule: 'cel:true' }))
    const first = textOf(await app.admin.post(`/policies/${policyId}/backtest`, {}))
    const second = textOf(await app.admin.post(`/policies/${policyId}/backtest`, {}))
    const list = await app.admin.get(`/policies/${policyId}/backtest`)
    assert.deepEqual(
      itemsOf(list).map((each) => each['id']),
      [second, first],
    )
    const { data, has_more: hasMore } = await app.admin.get(`/policies/${policyId}/backtest?limit=1&after=${second}`)
    assert.deepEqual([itemsOf({ data }).map((each) => each['id']), hasMore], [[first], false])
    const other = textOf(await draft({ rule: 'cel:true' }))
    assert.deepEqual(itemsOf(await app.admin.get(`/policies/${other}/backtest`)), [])
  })

  it('rejects a range that ends before it starts, and a backtest of another policy', async () => {
    const policyId = textOf(await draft({ rule: 'cel:true' }))
    const wrong = await app.admin.send('POST', `/policies/${policyId}/backtest`, { body: { from: 9, to: 9 } })
    assert.equal(wrong.status, 422)
    const { id } = await app.admin.post(`/policies/${policyId}/backtest`, {})
    const other = textOf(await draft({ rule: 'cel:true' }))
    assert.equal((await app.admin.send('GET', `/policies/${other}/backtest/${String(id)}`)).status, 404)
  })
})
