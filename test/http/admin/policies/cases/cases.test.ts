import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type AdminApp,
  type Json,
} from '../../../../support/administration.ts'

const outright = { says: 'asked outright', given: { text: 'What is Project Falcon?' }, expect: 'match' }
const bird = { says: 'the bird', given: { text: 'A falcon is a bird of prey.' }, expect: 'no_match', weight: 'should' }
const rule = 'Never mention "Project Falcon".'

describe('the cases of a policy', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  let count = 0
  const policyWith = async (fields: Json = {}): Promise<string> =>
    `/policies/${textOf(await app.admin.post('/policies', { name: `Policy ${++count}`, rule, ...fields }))}`
  const run = (policy: string, body: Json = {}) => app.admin.post(`${policy}/cases/run`, body)
  const statesOf = ({ results }: Json): unknown[] =>
    (results as Json[]).map(({ says, state, got, score_bp: score }) => [says, state, got, score])

  it('are created, read, listed, changed and deleted, and each change is in the audit log without the text', async () => {
    const policy = await policyWith()
    const created = await app.admin.post(`${policy}/cases`, { ...outright, tags: ['names'] })
    const path = `${policy}/cases/${textOf(created)}`
    assert.deepEqual(
      [created['weight'], created['origin'], created['event_id'], created['tags'], created['revision']],
      ['must', 'written', null, ['names'], 1],
    )
    assert.deepEqual(await app.admin.get(path), created)
    assert.deepEqual(itemsOf(await app.admin.get(`${policy}/cases`)), [created])
    const changed = await app.admin.send('PATCH', path, { body: { revision: 1, expect: { at_least_bp: 5_000 } } })
    assert.deepEqual([changed.body['expect'], changed.body['revision']], [{ at_least_bp: 5_000 }, 2])
    const same = await app.admin.send('PATCH', path, { body: { revision: 2, says: 'asked outright' } })
    assert.equal(same.body['revision'], 2)
    const late = await app.admin.send('PATCH', path, { body: { revision: 1, says: 'Late' } })
    assert.deepEqual([late.status, errorOf(late)['code']], [409, 'revision_conflict'])
    assert.equal((await app.admin.send('DELETE', path)).status, 200)
    assert.equal((await app.admin.send('GET', path)).status, 404)
    const events = JSON.stringify(
      await Promise.all(
        ['created', 'updated', 'deleted'].map((verb) => app.admin.get(`/audit_logs?kind=policy_case.${verb}`)),
      ),
    )
    assert.match(events, /policy_case\.created.*policy_case\.updated.*policy_case\.deleted/)
    assert.doesNotMatch(events, /Project Falcon/)
  })

  it('are evaluated on the draft, on the current version and on an earlier one', async () => {
    const policy = await policyWith()
    for (const body of [outright, bird]) await app.admin.post(`${policy}/cases`, body)
    assert.deepEqual(statesOf(await run(policy)), [
      ['asked outright', 'passed', 'match', 10_000],
      ['the bird', 'passed', 'no_match', 0],
    ])
    await app.admin.post(`${policy}/publish`, { revision: 1 })
    await app.admin.send('PATCH', policy, { body: { revision: 2, rule: 'cel:text.contains("bird")' } })
    const draft = await run(policy, { use: 'draft' })
    assert.deepEqual([draft['passed'], draft['failed'], draft['not_evaluated']], [0, 2, 0])
    assert.equal((await run(policy, { use: 'published' }))['passed'], 2)
    assert.equal((await run(policy, { use: 'version', version: 1 }))['passed'], 2)
    const [first] = itemsOf(await app.admin.get(`${policy}/cases?order=asc`))
    assert.deepEqual(statesOf(await run(policy, { ids: [textOf(first ?? {})] })), [
      ['asked outright', 'failed', 'no_match', 0],
    ])
  })

  it('compare the score with a range, and know the direction, model, user and metadata of a request', async () => {
    const expression =
      'cel:direction == "response" && model == "big" && user == "ada" && metadata["team"] == "red" ? 0.4 : 0.0'
    const policy = await policyWith({ rule: expression, direction: 'both' })
    const given = { text: 'x', direction: 'response', model: 'big', user: 'ada', metadata: { team: 'red' } }
    const expect = { at_least_bp: 3_000, at_most_bp: 5_000 }
    await app.admin.post(`${policy}/cases`, { says: 'all', given, expect })
    await app.admin.post(`${policy}/cases`, { says: 'other user', given: { ...given, user: 'ben' }, expect })
    assert.deepEqual(
      statesOf(await run(policy)).map((row) => (row as unknown[]).slice(0, 2)),
      [
        ['all', 'passed'],
        ['other user', 'failed'],
      ],
    )
  })

  it('have the direction of the policy, and its scope only if they name a project', async () => {
    const project = textOf(await app.admin.post('/projects', { name: 'Cases' }))
    const policy = await policyWith({ direction: 'response', scope: 'projects', project_ids: [project] })
    const { given } = outright
    await app.admin.post(`${policy}/cases`, outright)
    await app.admin.post(`${policy}/cases`, {
      says: 'in it',
      given: { ...given, project_id: project },
      expect: 'match',
    })
    await app.admin.post(`${policy}/cases`, {
      says: 'elsewhere',
      given: { ...given, project_id: 'proj_other' },
      expect: 'no_match',
    })
    await app.admin.post(`${policy}/cases`, {
      says: 'a request',
      given: { ...given, direction: 'request' },
      expect: 'no_match',
    })
    const { passed, failed } = await run(policy)
    assert.deepEqual([passed, failed], [4, 0])
  })

  it('are about the rule alone, whatever the gateway configuration denies', async () => {
    const policy = await policyWith()
    await app.admin.post(`${policy}/cases`, outright)
    const headers = { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' }
    const save = async (config: object) =>
      fetch(`${app.url}/api/policy-gateway/config`, { method: 'PUT', headers, body: JSON.stringify({ config }) })
    assert.equal((await save({ rules: { denylist: ['falcon'] } })).status, 200)
    assert.deepEqual(statesOf(await run(policy)), [['asked outright', 'passed', 'match', 10_000]])
    assert.equal((await save({})).status, 200)
  })

  it('with a rule that nobody can evaluate are not evaluated, and have not passed', async () => {
    const policy = await policyWith({ rule: 'Be kind.' })
    await app.admin.post(`${policy}/cases`, { ...outright, expect: 'no_match' })
    const { passed, not_evaluated: notEvaluated, results } = await run(policy)
    assert.deepEqual([passed, notEvaluated], [0, 1])
    assert.equal(typeof (results as Json[])[0]?.['not_evaluated'], 'string')
  })

  it('that are wrong are rejected, and the error names the field', async () => {
    const policy = await policyWith()
    for (const [body, param] of [
      [{ ...outright, given: {} }, 'given.text'],
      [{ ...outright, given: { messages: [{ role: 'nobody', content: 'x' }] } }, 'given.messages[0].role'],
      [{ ...outright, given: { text: 'x'.repeat(16_001) } }, 'given'],
      [{ ...outright, expect: {} }, 'expect'],
      [{ ...outright, expect: { at_least_bp: 6_000, at_most_bp: 5_000 } }, 'expect.at_least_bp'],
      [{ ...outright, event_id: 'evt_00000000000000000000000000' }, 'event_id'],
      [{ ...outright, says: '' }, 'says'],
    ] as const) {
      const answer = await app.admin.send('POST', `${policy}/cases`, { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(answer.body))
    }
    for (const [body, param] of [
      [{ use: 'published' }, 'use'],
      [{ use: 'version' }, 'version'],
      [{ ids: ['case_00000000000000000000000000'] }, 'ids[0]'],
    ] as const) {
      const answer = await app.admin.send('POST', `${policy}/cases/run`, { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
    }
  })

  it('show texts of requests only with content:read', async () => {
    const policy = await policyWith()
    await app.admin.post(`${policy}/cases`, { ...outright, origin: 'replay' })
    await app.admin.post(`${policy}/cases`, bird)
    const reader = await app.adminWith(['policies:read'])
    const seen = itemsOf(await reader.get(`${policy}/cases?order=asc`)).map(({ given }) => given)
    assert.deepEqual(seen, [null, bird.given])
    const both = await app.adminWith(['policies:read', 'content:read'])
    assert.deepEqual(itemsOf(await both.get(`${policy}/cases?order=asc`))[0]?.['given'], outright.given)
  })
})
