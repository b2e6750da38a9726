import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textOf, type Admin, type Json } from '../support/administration.ts'
import { startScene } from '../support/judge-scene.ts'

/** An installation without `policies.judge`, and a policy in plain language in force. */
async function openScene() {
  const scene = await startScene()
  const { admin } = scene.app
  const draft = { name: 'Kind', rule: 'Be kind.', mode: 'enforcing', direction: 'request' }
  const policy = textOf(await admin.post('/policies', draft))
  const judge = textOf(await admin.post('/judges', { name: 'Own', model: 'judge-model' }))
  return {
    ...scene,
    admin,
    judge,
    policy,
    activate: () => admin.post(`/judges/${judge}/activate`, { override: { reason: 'needed at once today' } }),
    /** Sends the change of the policy, and returns its warning. */
    async warning(action: string, body: object = {}): Promise<string | null> {
      const { revision } = await admin.get(`/policies/${policy}`)
      const answer = await admin.send('POST', `/policies/${policy}/${action}`, { body: { revision, ...body } })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.headers.get('x-gatehouse-warning')
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

const hasJudge = async (admin: Admin): Promise<unknown> => ((await admin.get('/me'))['features'] as Json)['judge']

const isReported = async (admin: Admin): Promise<boolean> =>
  ((await admin.get('/overview'))['attention'] as Json[]).some(({ kind }) => kind === 'rule_not_judged')

describe('the judge of an organization, without one in the configuration', () => {
  it('is a feature of this organization while it is active', async () => {
    await using scene = await openScene()
    const { admin } = scene
    const { admin: other } = await scene.app.otherOrganization()
    assert.equal(await hasJudge(admin), false)
    await scene.activate()
    assert.deepEqual([await hasJudge(admin), await hasJudge(other)], [true, false])
    await admin.post(`/judges/${scene.judge}/retire`)
    assert.equal(await hasJudge(admin), false)
  })

  it('evaluates rules in plain language, so their publication gives no warning', async () => {
    await using scene = await openScene()
    assert.equal(await scene.warning('publish'), 'rule_not_evaluable')
    assert.equal(await isReported(scene.admin), true)
    await scene.activate()
    assert.equal(await isReported(scene.admin), false)
    await scene.warning('pause')
    assert.equal(await scene.warning('resume'), null)
    const { revision } = await scene.admin.get(`/policies/${scene.policy}`)
    await scene.admin.send('PATCH', `/policies/${scene.policy}`, { body: { revision, rule: 'Be very kind.' } })
    assert.equal(await scene.warning('publish'), null)
    assert.equal(await scene.warning('rollback', { version: 1 }), null)
    await scene.admin.post(`/judges/${scene.judge}/retire`)
    assert.equal(await isReported(scene.admin), true)
    assert.equal(await scene.warning('rollback', { version: 2 }), 'rule_not_evaluable')
  })
})
