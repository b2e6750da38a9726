import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isInPercent } from '../../../../../src/domain/gateway-config/rollout.ts'
import { sendPrompt } from '../../../../evaluation/dialects.ts'
import {
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type AdminApp,
  type Json,
} from '../../../../support/administration.ts'

const users = Array.from({ length: 30 }, (_, at) => `user ${at}`)
const [inside = '', outside = ''] = [true, false].map((is) => users.find((user) => isInPercent(user, 50) === is))

describe('the rollout of a policy', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  let count = 0
  async function onlyPolicy(publication: Json = {}, fields: Json = {}): Promise<string> {
    for (const { id, revision } of itemsOf(await app.admin.get('/policies?limit=100')))
      await app.admin.send('DELETE', `/policies/${String(id)}?revision=${String(revision)}`)
    const rule = { name: `Policy ${++count}`, rule: 'Never mention "Falcon".', mode: 'enforcing', direction: 'request' }
    const path = `/policies/${textOf(await app.admin.post('/policies', { ...rule, ...fields }))}`
    await app.admin.post(`${path}/publish`, { revision: 1, ...publication })
    return path
  }
  const ask = (user: string, stream = false) =>
    sendPrompt(app, 'chat', {
      model: 'gatehouse-echo',
      text: 'What is Falcon?',
      stream,
      headers: { 'x-policy-user': user },
    })

  it('enforces it for the same share of users, and records it for the others', async () => {
    await onlyPolicy({ rollout_percent: 50 })
    for (const stream of [false, true])
      for (const user of users) {
        const { ending, policy } = await ask(user, stream)
        assert.equal(ending, isInPercent(user, 50) ? 'denied' : 'ended', user)
        assert.deepEqual(
          [policy?.['decision'], policy?.['enforced'], policy?.['rollout_mode']],
          ['refuse', isInPercent(user, 50), 'canary'],
        )
      }
    const [request] = itemsOf(await app.admin.get(`/requests?limit=1&user_id=${encodeURIComponent(outside)}`))
    const explanation = await app.admin.get(`/requests/${textOf(request ?? {})}/explanation`)
    const { rollout } = explanation['deciding'] as Json
    assert.deepEqual(rollout, { mode: 'canary', percent: 50, side: 'observed' })
  })

  it('changes without a new version, at its revision, and the log has it', async () => {
    const policy = await onlyPolicy({ rollout_percent: 1 })
    const started = await app.admin.get(policy)
    assert.deepEqual([started['rollout_percent'], started['revision'], started['current_version']], [1, 2, 1])
    const changed = await app.admin.post(`${policy}/rollout`, { revision: 2, percent: 50 })
    assert.deepEqual([changed['rollout_percent'], changed['revision'], changed['current_version']], [50, 3, 1])
    assert.deepEqual([(await ask(inside)).ending, (await ask(outside)).ending], ['denied', 'ended'])
    const same = await app.admin.post(`${policy}/rollout`, { revision: 3, percent: 50 })
    assert.equal(same['revision'], 3)
    const late = await app.admin.send('POST', `${policy}/rollout`, { body: { revision: 2, percent: 100 } })
    assert.deepEqual([late.status, errorOf(late)['code']], [409, 'revision_conflict'])
    await app.admin.post(`${policy}/rollout`, { revision: 3, percent: 100 })
    assert.equal((await ask(outside)).ending, 'denied')
    const events = itemsOf(await app.admin.get('/audit_logs?kind=policy.rollout.changed'))
    assert.equal(events.length, 2)
    assert.match(JSON.stringify(events[0]), /"before":\{"rollout_percent":50\},"rollout_percent":100/)
  })

  it('stays through a change of the draft, and ends with a publication that names no share', async () => {
    const policy = await onlyPolicy({ rollout_percent: 10 })
    const patched = await app.admin.send('PATCH', policy, { body: { revision: 2, rule: 'Never mention "Condor".' } })
    assert.equal(patched.body['rollout_percent'], 10)
    const published = await app.admin.post(`${policy}/publish`, { revision: 3 })
    assert.equal(published['rollout_percent'], 100)
  })

  it('is rejected without an enforcing version, and out of bounds', async () => {
    const policy = await onlyPolicy({}, { mode: 'monitoring' })
    const early = await app.admin.send('POST', `${policy}/rollout`, { body: { revision: 2, percent: 10 } })
    assert.deepEqual([early.status, errorOf(early)['code']], [409, 'invalid_state'])
    for (const percent of [0, 101, 1.5]) {
      const wrong = await app.admin.send('POST', `${policy}/rollout`, { body: { revision: 2, percent } })
      assert.deepEqual([wrong.status, errorOf(wrong)['param']], [422, 'percent'])
    }
    const author = await app.adminWith(['policies:read', 'policies:write'])
    assert.equal((await author.send('POST', `${policy}/rollout`, { body: { revision: 2, percent: 10 } })).status, 403)
    const { admin } = await app.otherOrganization()
    assert.equal((await admin.send('GET', `${policy}/rollout`)).status, 404)
  })

  it('counts the callers of both sides apart, and unenforced matches are no denials', async () => {
    const policy = await onlyPolicy({ rollout_percent: 50 })
    await app.admin.post(`${policy}/exceptions`, {
      for: { user: inside },
      reason: 'A test',
      expires_at: Math.floor(Date.now() / 1000) + 60,
    })
    const known = users.slice(0, 12).filter((user) => user !== inside)
    for (const user of [...known, inside]) await ask(user)
    const enforced = known.filter((user) => isInPercent(user, 50)).length
    const observed = known.length - enforced
    let arms: Json[] = []
    for (let tries = 0; arms[1]?.['matches'] !== observed + 1 && tries < 200; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      arms = (await app.admin.get(`${policy}/rollout`))['arms'] as Json[]
    }
    assert.deepEqual(
      arms.map(({ side, callers, denied_callers: denied }) => [side, callers, denied]),
      [
        ['enforced', enforced, enforced],
        ['observed', observed, observed],
      ],
    )
    const report = await app.admin.get(`${policy}/rollout`)
    assert.deepEqual([report['matches_7d'], report['denies_more']], [observed + 1, false])
    assert.deepEqual(report['steps'], [{ percent: 100, added_denials: observed + 1 }])
  })

  it('gives a simulation the verdict of the same user', async () => {
    await onlyPolicy({ rollout_percent: 50 })
    for (const user of [inside, outside]) {
      const scenario = { text: 'What is Falcon?', user, project_id: app.projectId }
      const { verdict } = await app.admin.post('/evaluate', { scenario })
      const { policy } = await ask(user)
      for (const name of ['decision', 'effective_decision', 'enforced', 'rollout_mode'])
        assert.equal((verdict as Json)[name], policy?.[name], `${user} ${name}`)
    }
  })
})
