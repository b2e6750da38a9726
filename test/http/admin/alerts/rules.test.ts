import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'

describe('alert rules', () => {
  const { admin, app, send } = adminSuite()
  const audited = async (id: string): Promise<Json[]> =>
    itemsOf(await admin().get('/audit_logs')).filter((entry) => entry['resource_id'] === id)

  it('are created with the defaults of their kind, changed and deleted, with an audit event for each', async () => {
    const created = await send('POST', '/alert_rules', { kind: 'denials', name: 'Many denials' })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const id = textOf(created.body)
    const { created_at: createdAt, updated_at: updatedAt, ...shown } = created.body
    assert.equal(createdAt, updatedAt)
    assert.deepEqual(shown, {
      id,
      object: 'organization.alert_rule',
      kind: 'denials',
      name: 'Many denials',
      threshold: 20,
      unit: 'percent',
      window: '15m',
      min_requests: 20,
      for_minutes: 1,
      filter: null,
      channel_ids: [],
      paused: false,
      state: 'ok',
      firing: [],
    })
    assert.deepEqual(await admin().get(`/alert_rules/${id}`), created.body)
    const project = { project_id: app().projectId }
    const changed = await send('PATCH', `/alert_rules/${id}`, { unit: 'count', threshold: 100, filter: project })
    assert.partialDeepStrictEqual(changed.body, { unit: 'count', threshold: 100, min_requests: null, filter: project })
    assert.equal((await send('PATCH', `/alert_rules/${id}`, { paused: true })).body['state'], 'paused')
    assert.equal((await send('DELETE', `/alert_rules/${id}`)).status, 200)
    const entries = (await audited(id)).toReversed()
    assert.deepEqual(
      entries.map((entry) => entry['kind']),
      ['alert_rule.created', 'alert_rule.updated', 'alert_rule.updated', 'alert_rule.deleted'],
    )
    assert.deepEqual(entries[2]?.['details'], { paused: true, before: { paused: false } })
  })

  it('of every kind are accepted with their defaults', async () => {
    const kinds = [
      'errors',
      'key_near_limit',
      'budget_near_limit',
      'credit_low',
      'key_expiring',
      'sink_failing',
      'dead_letters',
    ]
    for (const kind of [...kinds, 'upstream_failing', 'policy_spike', 'policy_paused', 'rule_not_judged'])
      assert.equal((await send('POST', '/alert_rules', { kind, name: kind })).status, 201, kind)
  })

  it('are rejected with the name of the field that is wrong', async () => {
    const other = await app().otherOrganization()
    const foreign = { project_id: other.projectId }
    const cases: [body: Json, param: string, message: RegExp][] = [
      [{ kind: 'spend', name: 'S' }, 'threshold', /is required/],
      [{ kind: 'spend', name: 'S', threshold: 0 }, 'threshold', /more than 0/],
      [{ kind: 'spend', name: 'S', threshold: 5, window: '15m' }, 'window', /day, month/],
      [{ kind: 'errors', name: 'E', threshold: 100 }, 'threshold', /below 100/],
      [{ kind: 'errors', name: 'E', filter: { policy_id: 'pol_1' } }, 'filter.policy_id', /not a filter/],
      [{ kind: 'errors', name: 'E', filter: foreign }, 'filter.project_id', /of the organization/],
      [
        { kind: 'budget_near_limit', name: 'B', filter: { budget_id: 'bud_1' } },
        'filter.budget_id',
        /of the organization/,
      ],
      [{ kind: 'sink_failing', name: 'S', threshold: 5 }, 'threshold', /left out/],
      [{ kind: 'errors', name: 'E', channel_ids: ['chan_nobody'] }, 'channel_ids[0]', /alert channel/],
      [{ kind: 'weather', name: 'W' }, 'kind', /spend/],
    ]
    for (const [body, param, message] of cases) {
      const answer = await send('POST', '/alert_rules', body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.equal(errorOf(answer)['param'], param, JSON.stringify(answer.body))
      assert.match(String(errorOf(answer)['message']), message)
    }
  })

  it('report only what the one who writes them may read', async () => {
    const billing = await app().adminWith(['alerts:write', 'usage:read'])
    const spend = { kind: 'spend', name: 'S', threshold: 5 }
    assert.equal((await billing.send('POST', '/alert_rules', { body: spend })).status, 201)
    for (const kind of ['denials', 'key_expiring', 'sink_failing', 'upstream_failing', 'policy_spike'])
      assert.equal((await billing.send('POST', '/alert_rules', { body: { kind, name: kind } })).status, 403, kind)
  })

  it('and alerts are lists of their own organization', async () => {
    const other = await app().otherOrganization()
    assert.deepEqual(itemsOf(await other.admin.get('/alert_rules')), [])
    assert.deepEqual(itemsOf(await other.admin.get('/alerts?state=firing')), [])
  })
})

describe('a rule about upstreams', () => {
  const { send } = adminSuite({ config: { administration: { system_visible: false } } })

  it('is for the operator where administrators do not see the installation', async () => {
    assert.equal((await send('POST', '/alert_rules', { kind: 'upstream_failing', name: 'U' })).status, 403)
  })
})
