import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

describe('a simulation', () => {
  const { scene, send } = gatewaySuite()
  const simulate = (body: object, headers: Record<string, string> = {}) => send('POST', '/simulate', { body, headers })
  const inForce = async () => (await send('GET', '/config')).body
  const runs = async () =>
    itemsOf((await send('GET', '/history?limit=100')).body).filter(({ kind }) => kind === 'gateway.simulation.run')
  const config = { policy_id: 'kept', rules: { denylist: ['rum'] } }
  const scenario = { text: 'rum, please' }

  it('stores nothing by default', async () => {
    const before = await inForce()
    assert.equal((await simulate({ config, scenario, persist: false })).body['decision'], 'refuse')
    assert.deepEqual([await inForce(), await runs()], [before, []])
  })

  it('with persist, applies its configuration and is listed in the history', async () => {
    const answer = await simulate({ config, scenario, persist: true })
    assert.deepEqual([answer.status, answer.body['decision']], [200, 'refuse'])
    const { config: saved, version } = (await inForce()) as { config: Json; version: number }
    assert.deepEqual([saved['policy_id'], (saved['rules'] as Json)['denylist']], ['kept', ['rum']])
    const [run, ...more] = await runs()
    assert.deepEqual(more, [])
    const { decision, policy_id: policyId, policy_version: policyVersion, request_id: requestId } = run ?? assert.fail()
    assert.deepEqual([decision, policyId, policyVersion], ['refuse', 'kept', String(version)])
    assert.equal(requestId, answer.headers.get('x-request-id'))
    const changes = itemsOf(await scene().admin.get('/audit_logs?kind=gateway.config.updated'))
    assert.equal(changes[0]?.['request_id'], requestId)
    assert.ok(!JSON.stringify(await scene().admin.get('/audit_logs')).includes('rum'))
  })

  it('evaluates the current configuration if it has none of its own', async () => {
    const { body } = await simulate({ scenario })
    assert.deepEqual([body['decision'], body['policy_id']], ['refuse', 'kept'])
    const other = await scene().otherOrganization()
    const otherResult = await send('POST', '/simulate', { body: { scenario }, key: other.admin.key })
    assert.deepEqual([otherResult.body['decision'], otherResult.body['policy_id']], ['allow', 'default'])
  })

  it('is stored once for an Idempotency-Key', async () => {
    const before = (await runs()).length
    const body = { config: { ...config, name: 'Once' }, scenario, persist: true }
    const headers = { 'idempotency-key': 'simulated' }
    const first = await simulate(body, headers)
    const again = await simulate(body, headers)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal((await runs()).length, before + 1)
  })

  it('is not stored if there was a save after the time in If-Match', async () => {
    const headers = { 'if-match': '"2020-01-01T00:00:00.000Z"' }
    const before = [await inForce(), await runs()]
    const rejected = await simulate({ config: { name: 'Late' }, scenario, persist: true }, headers)
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'stale_configuration'])
    assert.deepEqual([await inForce(), await runs()], before)
    assert.equal((await simulate({ config: { name: 'Late' }, scenario }, headers)).status, 200)
  })

  it('without a configuration of its own, does not undo a save made during its evaluation', async () => {
    // Long enough that the save happens during the evaluation.
    const text = Array.from({ length: 60_000 }, (_, at) => `word${at}`).join(' ')
    const judged = simulate({ scenario: { text }, persist: true })
    await send('PUT', '/config', { body: { name: 'Saved meanwhile' } })
    assert.equal((await judged).status, 200)
    assert.equal(((await inForce())['config'] as Json)['name'], 'Saved meanwhile')
  })

  it('with persist, needs the permission to write', async () => {
    const body = { config, persist: true }
    const reader = textOf(
      await scene().admin.post(`/projects/${scene().projectId}/api_keys`, {
        name: 'Reader',
        permissions: ['gateway:read'],
      }),
      'value',
    )
    const before = await inForce()
    const answer = await send('POST', '/simulate', { body, key: reader })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    assert.deepEqual(await inForce(), before)
    assert.equal((await send('POST', '/simulate', { body: { config }, key: reader })).status, 200)
  })

  const wrong: readonly [param: string, body: object][] = [
    ['polcy', { polcy: {} }],
    ['config.rules.deny', { config: { rules: { deny: [] } } }],
    ['policy.rules.denylist[0]', { policy: { rules: { denylist: ['/(/'] } } }],
    ['scenario.category', { scenario: { category: 'hate' } }],
    ['scenario.direction', { scenario: { direction: 'both' } }],
    ['categories[1]', { categories: ['hate', 1] }],
    ['persist', { persist: 'yes' }],
    ['scenario.messages[0].content', { scenario: { messages: [{ role: 'user' }] } }],
  ]
  for (const [param, body] of wrong) {
    it(`is rejected with 422 for ${JSON.stringify(body)}, naming ${param}`, async () => {
      const answer = await simulate(body)
      assert.deepEqual(
        [answer.status, errorOf(answer)['code'], errorOf(answer)['param']],
        [422, 'invalid_parameter', param],
      )
    })
  }
})
