import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

const path = '/config/cases'
const outright = { says: 'asked outright', given: { text: 'What is Project X?' }, expect: 'refuse' }
const address = { says: 'an address', given: { text: 'Write to ann@example.com.' }, expect: 'redact', weight: 'should' }
const harmless = { says: 'harmless', given: { text: 'Hello' }, expect: 'allow' }
const config = { rules: { denylist: ['project x'], redact: true } }

describe('the cases of the gateway configuration', () => {
  const { scene, send } = gatewaySuite()
  const create = async (body: Json): Promise<Json> => {
    const answer = await send('POST', path, { body })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const run = async (body: Json = {}): Promise<Json> => {
    const answer = await send('POST', `${path}/run`, { body })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  const statesOf = ({ results }: Json): unknown[] =>
    (results as Json[]).map(({ says, state, expected, got }) => [says, state, expected, got])

  beforeEach(async () => {
    for (const each of itemsOf((await send('GET', `${path}?limit=100`)).body))
      await send('DELETE', `${path}/${textOf(each)}`)
    assert.equal((await send('PUT', '/config', { body: {} })).status, 200)
  })

  it('are created, read, listed, changed and deleted, and each change is in the audit log without the text', async () => {
    const created = await create({ ...outright, tags: ['names'] })
    const one = `${path}/${textOf(created)}`
    assert.deepEqual(
      [created['object'], created['weight'], created['origin'], created['tags'], created['revision']],
      ['policy_gateway.case', 'must', 'written', ['names'], 1],
    )
    assert.deepEqual((await send('GET', one)).body, created)
    assert.deepEqual(itemsOf((await send('GET', path)).body), [created])
    const changed = await send('PATCH', one, { body: { revision: 1, expect: 'escalate' } })
    assert.deepEqual([changed.body['expect'], changed.body['revision']], ['escalate', 2])
    const late = await send('PATCH', one, { body: { revision: 1, says: 'Late' } })
    assert.deepEqual([late.status, errorOf(late)['code']], [409, 'revision_conflict'])
    assert.equal((await send('DELETE', one)).status, 200)
    assert.equal((await send('GET', one)).status, 404)
    const events = JSON.stringify(
      await Promise.all(
        ['created', 'updated', 'deleted'].map((verb) => scene().admin.get(`/audit_logs?kind=gateway_case.${verb}`)),
      ),
    )
    assert.match(events, /gateway_case\.created.*gateway_case\.updated.*gateway_case\.deleted/)
    assert.doesNotMatch(events, /Project X/)
  })

  it('are evaluated with the configuration in the body, or with the saved one', async () => {
    for (const each of [outright, address, harmless]) await create(each)
    assert.deepEqual(statesOf(await run()), [
      ['asked outright', 'failed', 'refuse', 'allow'],
      ['an address', 'failed', 'redact', 'allow'],
      ['harmless', 'passed', 'allow', 'allow'],
    ])
    const { passed, failed, not_evaluated: notEvaluated } = await run({ config })
    assert.deepEqual([passed, failed, notEvaluated], [3, 0, 0])
    assert.equal((await send('PUT', '/config', { body: config })).status, 200)
    assert.equal((await run())['passed'], 3)
    const [first] = itemsOf((await send('GET', `${path}?order=asc`)).body)
    assert.deepEqual(statesOf(await run({ ids: [textOf(first ?? {})], config: {} })), [
      ['asked outright', 'failed', 'refuse', 'allow'],
    ])
  })

  it('get the decision that a request gets, whatever the rollout and the policies are', async () => {
    const policy = await scene().admin.post('/policies', {
      name: 'No greeting',
      rule: 'Never say "Hello".',
      mode: 'enforcing',
    })
    await scene().admin.post(`/policies/${textOf(policy)}/publish`, { revision: 1 })
    const shadow = { enabled: true, sample_percent: 100 }
    const escalating = { rules: { ...config.rules, response_pattern: 'escalate' }, rollout: { shadow } }
    await create({ ...outright, expect: 'escalate' })
    await create(harmless)
    await create({
      says: 'a response',
      given: { text: 'Project X is late.', direction: 'response' },
      expect: 'escalate',
    })
    const result = await run({ config: escalating })
    assert.deepEqual([result['passed'], result['failed']], [3, 0], JSON.stringify(result))
    await scene().admin.post(`/policies/${textOf(policy)}/pause`, { revision: 2 })
  })

  it('that are wrong are rejected, and the error names the field', async () => {
    for (const [body, param] of [
      [{ ...outright, given: {} }, 'given.text'],
      [{ ...outright, given: { messages: [{ role: 'nobody', content: 'x' }] } }, 'given.messages[0].role'],
      [{ ...outright, given: { text: 'x'.repeat(16_001) } }, 'given'],
      [{ ...outright, expect: 'match' }, 'expect'],
      [{ ...outright, expect: 'not_evaluated' }, 'expect'],
      [{ ...outright, event_id: 'evt_00000000000000000000000000' }, 'event_id'],
      [{ ...outright, says: '' }, 'says'],
    ] as const) {
      const answer = await send('POST', path, { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(answer.body))
    }
    for (const [body, param] of [
      [{ config: { rules: { denylist: ['/(/'] } } }, 'config.rules.denylist[0]'],
      [{ ids: ['case_00000000000000000000000000'] }, 'ids[0]'],
    ] as const) {
      const answer = await send('POST', `${path}/run`, { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
    }
  })

  it('are neither seen nor run by another organization', async () => {
    const created = await create(outright)
    const { admin } = await scene().otherOrganization()
    assert.deepEqual(itemsOf((await send('GET', path, { key: admin.key })).body), [])
    assert.deepEqual((await send('POST', `${path}/run`, { body: {}, key: admin.key })).body['results'], [])
    const named = await send('POST', `${path}/run`, { body: { ids: [textOf(created)] }, key: admin.key })
    assert.deepEqual([named.status, errorOf(named)['param']], [422, 'ids[0]'])
  })

  it('are apart from the cases of policies', async () => {
    const policy = await scene().admin.post('/policies', { name: 'Other', rule: 'cel:true' })
    const ofPolicy = await scene().admin.post(`/policies/${textOf(policy)}/cases`, { ...outright, expect: 'match' })
    const own = await create(outright)
    assert.equal((await send('GET', `${path}/${textOf(ofPolicy)}`)).status, 404)
    assert.equal((await scene().admin.send('GET', `/policies/${textOf(policy)}/cases/${textOf(own)}`)).status, 404)
    assert.deepEqual(itemsOf((await send('GET', path)).body), [own])
  })

  it('show texts of requests only with content:read, which no key of a project has', async () => {
    await create({ ...outright, origin: 'replay' })
    await create(harmless)
    const seen = itemsOf((await send('GET', `${path}?order=asc`)).body).map(({ given }) => given)
    assert.deepEqual(seen, [null, harmless.given])
    const reader = await scene().adminWith(['gateway:read', 'content:read'])
    const all = itemsOf((await send('GET', `${path}?order=asc`, { key: reader.key })).body).map(({ given }) => given)
    assert.deepEqual(all, [outright.given, harmless.given])
  })
})
