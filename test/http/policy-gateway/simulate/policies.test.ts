import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

describe('a simulation', () => {
  const { scene, send } = gatewaySuite()
  const simulate = async (body: object, key?: string): Promise<Json> => {
    const answer = await send('POST', '/simulate', { body, ...(key === undefined ? {} : { key }) })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  const results = (body: Json) =>
    (body['results'] as Json[]).map(({ check, policy_id: id, decision }) => [check, id, decision])

  /** Creates a policy for one test. */
  async function policy(content: Json, isPublished = true) {
    const { admin } = scene()
    const id = textOf(await admin.post('/policies', { name: String(content['rule']), mode: 'enforcing', ...content }))
    if (isPublished) await admin.post(`/policies/${id}/publish`, { revision: 1 })
    return {
      id,
      async [Symbol.asyncDispose]() {
        await admin.send('DELETE', `/policies/${id}?revision=${isPublished ? 2 : 1}`)
      },
    }
  }

  it('refuses what a policy in force refuses, and has a result of each check', async () => {
    await using rum = await policy({ rule: 'Never say "rum".' })
    const scenario = { text: 'rum, please' }
    const answer = await simulate({ scenario })
    const { decision, effective_decision: effective, enforced, policy_id: id, rollout_mode: mode } = answer
    assert.deepEqual([decision, effective, enforced, id, mode], ['refuse', 'refuse', true, rum.id, 'enforced'])
    assert.deepEqual(results(answer), [
      ['always_blocked', 'default', 'allow'],
      ['gateway', 'default', 'allow'],
      ['policy', rum.id, 'refuse'],
    ])
    const request = { model: 'gatehouse-echo', max_tokens: 50, messages: [{ role: 'user', content: scenario.text }] }
    assert.equal((await scene().post('/v1/messages', request)).status, 400)
  })

  it('evaluates policies beside a configuration that is tried', async () => {
    await using rum = await policy({ rule: 'Never say "rum".', mode: 'monitoring' })
    const config = { policy_id: 'tried', rules: { denylist: ['gin'] } }
    const answer = await simulate({ config, scenario: { text: 'rum and gin' } })
    assert.deepEqual([answer['decision'], answer['policy_id']], ['refuse', 'tried'])
    assert.deepEqual(results(answer).at(-1), ['policy', rum.id, 'refuse'])
  })

  it('reports what a monitoring policy would refuse, and that it is not enforced', async () => {
    await using rum = await policy({ rule: 'Never say "rum".', mode: 'monitoring' })
    const answer = await simulate({ scenario: { text: 'rum' } })
    assert.deepEqual(
      [
        answer['decision'],
        answer['effective_decision'],
        answer['enforced'],
        answer['rollout_mode'],
        answer['policy_id'],
      ],
      ['refuse', 'allow', false, 'shadow', rum.id],
    )
  })

  it('leaves policies out with policies: false', async () => {
    await using _rum = await policy({ rule: 'Never say "rum".' })
    const answer = await simulate({ policies: false, scenario: { text: 'rum' } })
    assert.equal(answer['decision'], 'allow')
    assert.ok(results(answer).every(([check]) => check !== 'policy'))
  })

  it('applies a category that is given to the policies that name it', async () => {
    await using hate = await policy({ rule: 'No hate speech.' })
    const answer = await simulate({ categories: ['hate'] })
    assert.deepEqual([answer['decision'], answer['policy_id']], ['refuse', hate.id])
    assert.equal((answer['scores'] as Json)['hate'], 0)
    assert.equal((await simulate({ categories: ['sexual'] }))['decision'], 'allow')
  })

  it('applies a policy of some projects to the project of the key, or of the scenario', async () => {
    const { admin, projectId, adminKey } = scene()
    const other = textOf(await admin.post('/projects', { name: 'Other' }))
    await using _own = await policy({ rule: 'Say "own"', scope: 'projects', project_ids: [projectId] })
    await using _other = await policy({ rule: 'Say "other"', scope: 'projects', project_ids: [other] })
    const decisions = async (projectOfScenario: string | undefined, key?: string) => {
      const project = projectOfScenario === undefined ? {} : { project_id: projectOfScenario }
      const own = await simulate({ scenario: { text: 'own', ...project } }, key)
      const others = await simulate({ scenario: { text: 'other', ...project } }, key)
      return [own['decision'], others['decision']]
    }
    assert.deepEqual(await decisions(undefined), ['refuse', 'allow'])
    assert.deepEqual(await decisions(projectId), ['refuse', 'allow'])
    assert.deepEqual(await decisions(other, adminKey), ['allow', 'refuse'])
    assert.deepEqual(await decisions(undefined, adminKey), ['allow', 'allow'])
    const answer = await send('POST', '/simulate', { body: { scenario: { project_id: other } } })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'project_mismatch'])
  })

  it('names unattached policies in policy_ids, and drafts with the permission to read them', async () => {
    const { adminKey } = scene()
    await using unattached = await policy({ rule: 'Say "rum"', scope: 'unattached' })
    await using draft = await policy({ rule: 'Say "gin"', scope: 'projects' }, false)
    const named = { policy_ids: [unattached.id, draft.id] }
    assert.equal((await simulate({ scenario: { text: 'rum' } }))['decision'], 'allow')
    const rum = await simulate({ policy_ids: [unattached.id], scenario: { text: 'rum' } })
    assert.deepEqual([rum['decision'], rum['policy_id']], ['refuse', unattached.id])
    const gin = await simulate({ ...named, scenario: { text: 'gin' } }, adminKey)
    assert.deepEqual([gin['decision'], gin['policy_id']], ['refuse', draft.id])
    const denied = await send('POST', '/simulate', { body: named })
    assert.equal(denied.status, 403)
    assert.match(String(errorOf(denied)['message']), /policies:read/)
  })

  it('rejects a policy that does not exist', async () => {
    const answer = await send('POST', '/simulate', { body: { policy_ids: ['pol_nobody'] } })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'policy_ids[0]'])
  })
})
