import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

describe('saving a gateway configuration', () => {
  const { send } = gatewaySuite()
  const put = (body: unknown, headers: Record<string, string> = {}) => send('PUT', '/config', { body, headers })
  const updatedAt = async (): Promise<string> => textOf((await send('GET', '/config')).body, 'updated_at')

  it('is rejected with 409 if there was a later save, and the error names its time', async () => {
    assert.equal((await put({ name: 'One' }, { 'if-match': 'null' })).status, 200)
    const seen = await updatedAt()
    assert.equal((await put({ name: 'Two' }, { 'if-match': `"${seen}"` })).status, 200)
    for (const ifMatch of [seen, `"${seen}"`, 'null']) {
      const answer = await put({ name: 'Three' }, { 'if-match': ifMatch })
      assert.deepEqual(
        [answer.status, errorOf(answer)['code'], errorOf(answer)['type'], errorOf(answer)['param']],
        [409, 'stale_configuration', 'conflict_error', 'If-Match'],
      )
      assert.ok(String(errorOf(answer)['message']).includes(await updatedAt()))
    }
    assert.equal((await put({ name: 'Three' }, { 'if-match': await updatedAt() })).status, 200)
    assert.equal((await put({ name: 'Four' }, { 'if-match': '*' })).status, 200)
  })

  it('is rejected with 400 if the condition is not a time', async () => {
    const answer = await put({ name: 'One' }, { 'if-match': '"an-etag"' })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [400, 'invalid_header'])
  })

  it('is rejected with 413 over a mebibyte', async () => {
    const answer = await put({ description: 'x'.repeat(1024 * 1024) })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [413, 'body_too_large'])
  })

  const wrong: readonly [param: string, body: object][] = [
    ['nmae', { nmae: 'typo' }],
    ['rules.deny', { rules: { deny: [] } }],
    ['org_controls.user_quota.per', { org_controls: { user_quota: { per: 'day' } } }],
    ['config.rules.deny', { config: { rules: { deny: [] } } }],
    ['name', { name: 'beside', config: {} }],
    ['policy_id', { policy_id: '' }],
    ['rules', { rules: null }],
    ['rules.redact', { rules: { redact: 'yes' } }],
    ['rules.response_pattern', { rules: { response_pattern: 'shout' } }],
    ['rules.flagged_categories[1]', { rules: { flagged_categories: ['hate', 'astrology'] } }],
    ['rules.denylist[3]', { rules: { denylist: ['a', 'a', 'b', '  '] } }],
    ['rules.denylist[1]', { rules: { denylist: ['a', ''] } }],
    ['rules.denylist[0]', { rules: { denylist: ['/(/'] } }],
    ['rules.denylist[0]', { rules: { denylist: ['x'.repeat(501)] } }],
    ['config.rules.allowlist[0]', { config: { rules: { allowlist: ['/a**/'] } } }],
    ['org_controls.data_classification', { org_controls: { data_classification: 'x'.repeat(65) } }],
    ['org_controls.data_classification', { org_controls: { data_classification: '' } }],
    ['org_controls.user_quota.requests', { org_controls: { user_quota: { requests: -1 } } }],
    ['org_controls.user_quota.tokens', { org_controls: { user_quota: { tokens: 1.5 } } }],
    ['org_controls.project_quota.window', { org_controls: { project_quota: { window: 'year' } } }],
    ['rollout.canary.sample_percent', { rollout: { canary: { sample_percent: 100.1 } } }],
    ['refusal_replacement.mode', { refusal_replacement: { mode: 'allow' } }],
  ]
  for (const [param, body] of wrong) {
    it(`is rejected with 422 for ${JSON.stringify(body).slice(0, 60)}, naming ${param}`, async () => {
      const answer = await put(body)
      assert.deepEqual(
        [answer.status, errorOf(answer)['code'], errorOf(answer)['param']],
        [422, 'invalid_parameter', param],
      )
    })
  }
})
