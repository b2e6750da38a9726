import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { textDigest } from '../../../../../src/domain/exceptions/exception.ts'
import {
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type AdminApp,
  type Json,
} from '../../../../support/administration.ts'
import { createFastClock } from '../../../../support/fast-clock.ts'
import { sendPrompt } from '../../../../evaluation/dialects.ts'

const asked = 'What is Project Falcon?'
const rule = 'Never mention "Project Falcon".'
const daySeconds = 86_400

describe('exceptions of a policy', () => {
  const clock = createFastClock(1)
  let app: AdminApp
  before(async () => void (app = await startAdminApp({ clock, config: { audit: { content: 'full' } } })))
  after(() => app[Symbol.asyncDispose]())

  let count = 0
  /** An enforced policy; the others are deleted. */
  async function onlyPolicy(fields: Json = {}): Promise<string> {
    for (const { id, revision } of itemsOf(await app.admin.get('/policies?limit=100')))
      await app.admin.send('DELETE', `/policies/${String(id)}?revision=${String(revision)}`)
    const body = { name: `Policy ${++count}`, rule, mode: 'enforcing', ...fields }
    const path = `/policies/${textOf(await app.admin.post('/policies', body))}`
    await app.admin.post(`${path}/publish`, { revision: 1 })
    return path
  }
  const inSeconds = (seconds: number): number => Math.ceil(clock.nowMs() / 1000) + seconds
  const make = (policy: string, subject: Json, fields: Json = {}) =>
    app.admin.post(`${policy}/exceptions`, {
      for: subject,
      reason: 'Legal agreed',
      expires_at: inSeconds(daySeconds),
      ...fields,
    })
  const ask = (text = asked, { user, stream = false }: { user?: string; stream?: boolean } = {}) =>
    sendPrompt(app, 'chat', {
      model: 'gatehouse-echo',
      text,
      stream,
      headers: user === undefined ? {} : { 'x-policy-user': user },
    })
  const endingOf = async (...given: Parameters<typeof ask>): Promise<string> => (await ask(...given)).ending

  it('let the requests of a user through until they are ended, and the log has both', async () => {
    const policy = await onlyPolicy()
    assert.equal(await endingOf(asked, { user: 'ada' }), 'denied')
    const made = await make(policy, { user: 'ada' }, { owner: 'legal' })
    assert.deepEqual([made['state'], made['for'], made['owner']], ['live', { user: 'ada' }, 'legal'])
    assert.equal(await endingOf(asked, { user: 'ada' }), 'ended')
    assert.equal(await endingOf(asked, { user: 'ben' }), 'denied')
    assert.equal(await endingOf(), 'denied')
    const path = `${policy}/exceptions/${textOf(made)}`
    assert.deepEqual(await app.admin.get(path), made)
    assert.deepEqual(itemsOf(await app.admin.get(`${policy}/exceptions`)), [made])
    assert.deepEqual(itemsOf(await app.admin.get('/exceptions')), [made])
    const ended = (await app.admin.send('DELETE', path)).body
    assert.deepEqual([ended['state'], typeof ended['ended_by']], ['ended', 'string'])
    assert.equal(await endingOf(asked, { user: 'ada' }), 'denied')
    const again = await app.admin.send('DELETE', path)
    assert.deepEqual([again.status, errorOf(again)['code']], [409, 'invalid_state'])
    assert.deepEqual(itemsOf(await app.admin.get('/exceptions')), [])
    for (const kind of ['created', 'ended']) {
      const [event] = itemsOf(await app.admin.get(`/audit_logs?kind=policy_exception.${kind}`))
      assert.match(JSON.stringify(event), /"user":"ada"/)
    }
  })

  it('end at their second, for whole and streamed requests, and the log has the expiry once', async () => {
    const policy = await onlyPolicy()
    const expiresAt = inSeconds(3_600)
    const { id } = await make(policy, { project_id: app.projectId }, { expires_at: expiresAt })
    clock.skip(expiresAt * 1000 - clock.nowMs() - 1_000)
    for (const stream of [false, true]) assert.equal(await endingOf(asked, { stream }), 'ended')
    clock.skip(Math.max(0, expiresAt * 1000 - clock.nowMs()))
    for (const stream of [false, true]) assert.equal(await endingOf(asked, { stream }), 'denied')
    assert.equal((await app.admin.get(`${policy}/exceptions/${String(id)}`))['state'], 'expired')
    const ending = await app.admin.send('DELETE', `${policy}/exceptions/${String(id)}`)
    assert.deepEqual([ending.status, errorOf(ending)['code']], [409, 'invalid_state'])
    let events: Json[] = []
    for (let tries = 0; events.length === 0 && tries < 200; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      events = itemsOf(await app.admin.get('/audit_logs?kind=policy_exception.expired'))
    }
    assert.equal(events.length, 1)
  })

  it('need attention for three days before their end, and not after it', async () => {
    const policy = await onlyPolicy()
    const later = await make(policy, { user: 'ada' }, { expires_at: inSeconds(3.5 * daySeconds) })
    const soon = await make(policy, { user: 'ben' }, { expires_at: inSeconds(2.5 * daySeconds) })
    const attention = async () =>
      ((await app.admin.get('/overview'))['attention'] as Json[])
        .filter(({ kind }) => kind === 'exception_ending')
        .map(({ severity, text, object_id: id }) => [severity, text, id])
    const itemOf = (user: string, severity: string, when: string) => [
      severity,
      `The exception of the policy Policy ${count} for the user ${user} ends ${when}`,
      policy.slice('/policies/'.length),
    ]
    assert.deepEqual(await attention(), [itemOf('ben', 'info', 'in 2 days')])
    clock.skip(2 * daySeconds * 1000)
    assert.deepEqual(await attention(), [itemOf('ben', 'warning', 'within a day'), itemOf('ada', 'info', 'in 1 day')])
    clock.skip(daySeconds * 1000)
    assert.deepEqual(await attention(), [itemOf('ada', 'warning', 'within a day')])
    await app.admin.send('DELETE', `${policy}/exceptions/${textOf(later)}`)
    assert.deepEqual(await attention(), [])
    assert.equal((await app.admin.get(`${policy}/exceptions/${textOf(soon)}`))['state'], 'expired')
  })

  it('cover a key, a project or a text, and nothing else', async () => {
    const policy = await onlyPolicy({ direction: 'request' })
    const keys = itemsOf(await app.admin.get(`/projects/${app.projectId}/api_keys`))
    const [other, key] = [/application/, /policy gateway/].map((name) =>
      keys.find((one) => name.test(textOf(one, 'name'))),
    )
    await make(policy, { key_id: other?.['id'] })
    assert.equal(await endingOf(), 'denied')
    const made = await make(policy, { key_id: key?.['id'] })
    assert.equal(await endingOf(), 'ended')
    await app.admin.send('DELETE', `${policy}/exceptions/${textOf(made)}`)
    const ofText = await make(policy, { text: asked })
    assert.deepEqual(ofText['for'], { text_digests: [textDigest(asked)] })
    for (const stream of [false, true]) assert.equal(await endingOf(asked, { stream }), 'ended')
    assert.equal(await endingOf(`${asked} Now.`), 'denied')
    assert.doesNotMatch(JSON.stringify(await app.admin.get('/audit_logs?limit=100')), /What is Project Falcon/)
  })

  it('cover the denied texts of an event whose texts are kept', async () => {
    const policy = await onlyPolicy({ direction: 'request' })
    const denied = await ask()
    const eventId = String(denied.policy?.['event_id'])
    const made = await make(policy, { event_id: eventId })
    assert.deepEqual([made['for'], made['event_id']], [{ text_digests: [textDigest(asked)] }, eventId])
    assert.equal(await endingOf(), 'ended')
    const without = await app.adminWith(['policies:publish', 'policies:read'])
    const body = { for: { event_id: eventId }, reason: 'No', expires_at: inSeconds(60) }
    assert.equal((await without.send('POST', `${policy}/exceptions`, { body })).status, 403)
    const other = await onlyPolicy({ name: 'Other' })
    const foreign = await app.admin.send('POST', `${other}/exceptions`, { body })
    assert.deepEqual([foreign.status, errorOf(foreign)['param']], [422, 'for.event_id'])
  })

  it('are in the explanation, in the request and in a simulation', async () => {
    const policy = await onlyPolicy()
    const { id } = await make(policy, { user: 'ada' })
    assert.equal(await endingOf(asked, { user: 'ada' }), 'ended')
    const [request] = itemsOf(await app.admin.get('/requests?limit=1'))
    const detail = await app.admin.get(`/requests/${textOf(request ?? {})}`)
    const ofPolicy = (detail['outcomes'] as Json[]).find(({ check }) => check === 'policy') ?? {}
    assert.deepEqual(
      [ofPolicy['decision'], ofPolicy['is_enforced'], ofPolicy['exception_id'], ofPolicy['score_bp']],
      ['refuse', false, id, 10_000],
    )
    const explanation = await app.admin.get(`/requests/${textOf(request ?? {})}/explanation`)
    const deciding = explanation['deciding'] as Json
    assert.deepEqual(
      [explanation['effective_decision'], explanation['basis'], explanation['differs'], deciding['exception_id']],
      ['allow', 'rerun', [], id],
    )
    const simulated = async (user: string) => {
      const scenario = { text: asked, user, project_id: app.projectId }
      const { verdict, outcomes } = await app.admin.post('/evaluate', { scenario })
      const found = (outcomes as Json[]).find(({ check }) => check === 'policy')?.['exception_id']
      return [(verdict as Json)['decision'], (verdict as Json)['effective_decision'], found]
    }
    assert.deepEqual(await simulated('ada'), ['refuse', 'allow', id])
    assert.deepEqual(await simulated('ben'), ['refuse', 'refuse', null])
  })

  it('never cover the categories that are always blocked', async () => {
    const policy = await onlyPolicy({ rule: 'cel:categories["self-harm"]' })
    await make(policy, { project_id: app.projectId })
    const crisis = 'I want to kill myself tonight.'
    await make(policy, { text: crisis })
    const { ending, code } = await ask(crisis)
    assert.deepEqual([ending, code], ['denied', 'moderation_blocked'])
  })

  it('are not enforced denials in the statistics of the policy', async () => {
    const policy = await onlyPolicy()
    await make(policy, { user: 'ada' })
    for (const user of ['ada', 'ada', 'ben']) await ask(asked, { user })
    let counted: readonly unknown[] = []
    for (let tries = 0; counted.length === 0 && tries < 200; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      counted = itemsOf(await app.admin.get(`${policy}/decisions`)).map(({ enforced, recorded }) => [
        enforced,
        recorded,
      ])
    }
    assert.deepEqual(counted, [
      [
        { requests: 1, denied: 1 },
        { requests: 2, denied: 2 },
      ],
    ])
  })

  it('are rejected with the field that is wrong', async () => {
    const policy = await onlyPolicy()
    const wrong: [Json, string][] = [
      [{ for: {} }, 'for'],
      [{ for: { user: 'ada', key_id: 'key_1' } }, 'for'],
      [{ for: { project_id: 'proj_unknown' } }, 'for.project_id'],
      [{ for: { key_id: 'key_unknown' } }, 'for.key_id'],
      [{ for: { text_digests: ['sha256:short'] } }, 'for.text_digests[0]'],
      [{ for: { event_id: 'evt_unknown' } }, 'for.event_id'],
      [{ expires_at: inSeconds(-1) }, 'expires_at'],
      [{ expires_at: inSeconds(31 * daySeconds) }, 'expires_at'],
      [{ reason: '' }, 'reason'],
    ]
    for (const [fields, param] of wrong) {
      const body = { for: { user: 'ada' }, reason: 'A reason', expires_at: inSeconds(60), ...fields }
      const answer = await app.admin.send('POST', `${policy}/exceptions`, { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(fields))
    }
  })

  it('are at most 100 live ones a policy', async () => {
    const policy = await onlyPolicy()
    for (let at = 0; at < 100; at += 1) await make(policy, { user: `user ${at}` })
    const body = { for: { user: 'one more' }, reason: 'A reason', expires_at: inSeconds(60) }
    const answer = await app.admin.send('POST', `${policy}/exceptions`, { body })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'exception_limit_reached'])
    assert.equal(itemsOf(await app.admin.get('/exceptions')).length, 100)
  })

  it('are of one organization, and need the permission policies:publish', async () => {
    const policy = await onlyPolicy()
    const { id } = await make(policy, { user: 'ada' })
    const { admin } = await app.otherOrganization()
    const body = { for: { user: 'ada' }, reason: 'A reason', expires_at: inSeconds(60) }
    for (const [method, path, sent] of [
      ['GET', `${policy}/exceptions`],
      ['POST', `${policy}/exceptions`, body],
      ['GET', `${policy}/exceptions/${String(id)}`],
      ['DELETE', `${policy}/exceptions/${String(id)}`],
    ] as const)
      assert.equal((await admin.send(method, path, sent === undefined ? {} : { body: sent })).status, 404, method)
    assert.deepEqual(itemsOf(await admin.get('/exceptions')), [])
    const author = await app.adminWith(['policies:read', 'policies:write'])
    assert.equal((await author.send('POST', `${policy}/exceptions`, { body })).status, 403)
    assert.equal((await author.send('DELETE', `${policy}/exceptions/${String(id)}`)).status, 403)
    assert.equal((await author.send('GET', `${policy}/exceptions`)).status, 200)
  })
})
