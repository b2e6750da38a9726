import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { permissions } from '../../../../src/domain/identity/permissions.ts'
import { errorOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const scenario = { text: 'Hello' }

const wrong: readonly [param: string, body: object][] = [
  ['scenario', {}],
  ['scenario.text', { scenario: {} }],
  ['scenario.text', { scenario: { text: 7 } }],
  ['scenario.direction', { scenario: { ...scenario, direction: 'both' } }],
  ['scenario.categories', { scenario: { ...scenario, categories: ['hate'] } }],
  ['scenario.flagged_categories[0]', { scenario: { ...scenario, flagged_categories: ['astrology'] } }],
  ['scenario.project_id', { scenario: { ...scenario, project_id: 'proj_nobody' } }],
  ['scenario.metadata.team', { scenario: { ...scenario, metadata: { team: 7 } } }],
  ['scenario.messages[0].content', { scenario: { messages: [{ role: 'user' }] } }],
  ['scenario.messages[1].role', { scenario: { messages: [{ content: 'a' }, { role: 'pilot', content: 'a' }] } }],
  ['scenario.messages[0].content[0].name', { scenario: { messages: [{ content: [{ type: 'tool_use', id: 'a' }] }] } }],
  ['gateway', { scenario, gateway: 'saved' }],
  ['gateway.rules.deny', { scenario, gateway: { rules: { deny: [] } } }],
  ['gateway.rules.denylist[0]', { scenario, gateway: { rules: { denylist: ['/(/'] } } }],
  ['policies', { scenario, policies: 'all' }],
  ['policies[0].policy_id', { scenario, policies: [{ policy_id: 'pol_nobody', use: 'draft' }] }],
  ['policies[0].use', { scenario, policies: [{ policy_id: 'pol_nobody', use: 'latest' }] }],
  ['policies[1].rule', { scenario, policies: ['in_force', { rule: 'cel:text ==' }] }],
  ['policies[0].mode', { scenario, policies: [{ rule: 'r', mode: 'paused' }] }],
  ['judge', { scenario, judge: 'no' }],
]

describe('evaluating a text', () => {
  const { app, send, policy } = adminSuite()

  for (const [param, body] of wrong) {
    it(`names ${param} in ${JSON.stringify(body)}`, async () => {
      const answer = await send('POST', '/evaluate', body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(answer.body))
      assert.ok(String(errorOf(answer)['message']).startsWith(param))
    })
  }

  it('rejects a published version that does not exist, and a policy that is named twice', async () => {
    const { id } = await policy()
    const stored = (use: string) => ({ policy_id: id, use })
    const published = await send('POST', '/evaluate', { scenario, policies: [stored('published')] })
    assert.deepEqual([published.status, errorOf(published)['param']], [422, 'policies[0].use'])
    const twice = await send('POST', '/evaluate', { scenario, policies: [stored('draft'), stored('draft')] })
    assert.deepEqual([twice.status, errorOf(twice)['param']], [422, 'policies[1].policy_id'])
    const both = await send('POST', '/evaluate', { scenario, policies: [stored('none'), stored('draft')] })
    assert.deepEqual([both.status, errorOf(both)['param']], [422, 'policies[1].policy_id'])
  })

  it('finds no policy of another organization', async () => {
    const { id } = await policy()
    const { admin: other } = await app().otherOrganization()
    const answer = await other.send('POST', '/evaluate', {
      body: { scenario, policies: [{ policy_id: id, use: 'draft' }] },
    })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'policies[0].policy_id'])
  })

  it('needs gateway:read as well, because the evidence shows terms of the configuration', async () => {
    const holder = await app().adminWith(permissions.filter((word) => word !== 'gateway:read' && word !== '*'))
    const answer = await holder.send('POST', '/evaluate', { body: { scenario } })
    assert.equal(answer.status, 403)
    assert.match(String(errorOf(answer)['message']), /gateway:read/)
  })
})
