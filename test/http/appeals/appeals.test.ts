import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Admin, type Json } from '../../support/administration.ts'
import { operatorOf } from '../../support/operator.ts'
import { openAppealScene, rule, type AppealScene } from '../../support/appeal-scene.ts'

const kindsOf = async (admin: Admin, appealId: string): Promise<string[]> =>
  itemsOf(await admin.get(`/audit_logs?resource_id=${appealId}&order=asc`)).map((event) => String(event['kind']))

describe('an appeal', () => {
  let app: AppealScene
  before(async () => (app = await openAppealScene()))
  after(() => app[Symbol.asyncDispose]())

  const opened = async (): Promise<{ id: string; eventId: string }> => {
    const { event_id: eventId } = await app.deny()
    const { status, body } = await app.appeal(String(eventId))
    assert.equal(status, 201, JSON.stringify(body))
    return { id: textOf(body), eventId: String(eventId) }
  }
  const review = (admin: Admin, id: string, body: Json) => admin.send('POST', `/appeals/${id}/review`, { body })
  const resolve = (admin: Admin, id: string, body: Json) => admin.send('POST', `/appeals/${id}/resolve`, { body })

  it('of a key is shown with the decision, once for each decision', async () => {
    const { event_id: eventId } = await app.deny()
    assert.deepEqual((await app.decision(String(eventId)))['appeal'], {
      allowed: true,
      state: null,
      opened_at: null,
      closed_at: null,
      reason: null,
    })
    const first = await app.appeal(String(eventId))
    assert.deepEqual([first.status, first.body['state'], first.body['allowed']], [201, 'open', false])
    const second = await app.appeal(String(eventId))
    assert.deepEqual([second.status, errorOf(second)['code']], [409, 'already_appealed'])
    const { appeal } = (await app.decision(String(eventId))) as { appeal: Json }
    assert.deepEqual([appeal['allowed'], appeal['state']], [false, 'open'])
  })

  it('is opened once with the same Idempotency-Key', async () => {
    const { event_id: eventId } = await app.deny()
    const headers = { authorization: `Bearer ${app.apiKey}`, 'idempotency-key': 'appeal-once' }
    const send = () => app.post(`/v1/decisions/${String(eventId)}/appeal`, { note: 'Wrong.' }, headers)
    const [first, again] = [await send(), await send()]
    assert.deepEqual([first.status, again.status, again.headers.get('idempotent-replayed')], [201, 201, 'true'])
  })

  it('needs a note of 1 to 1,000 characters', async () => {
    const { event_id: eventId } = await app.deny()
    for (const note of ['', '  ', 'x'.repeat(1_001)]) {
      const { status, body } = await app.appeal(String(eventId), note)
      assert.deepEqual([status, (body['error'] as Json)['param']], [422, 'note'])
    }
    assert.equal((await app.appeal(String(eventId), 'x'.repeat(1_000))).status, 201)
  })

  it('is not about a request that every check allowed, or that was rejected before them', async () => {
    const { requestId } = await app.ask('Hello')
    const { event_id: eventId } = await app.admin.get(`/requests/${requestId}`)
    const rejected = await app.appeal(String(eventId))
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'not_appealable'])
    assert.equal((await app.decision(String(eventId)))['appeal'] instanceof Object, true)
    assert.equal(((await app.decision(String(eventId)))['appeal'] as Json)['allowed'], false)
  })

  it('is unknown to another project and another organization', async () => {
    const { event_id: eventId } = await app.deny()
    const project = await app.admin.post('/projects', { name: 'Other' })
    const key = await app.admin.post(`/projects/${textOf(project)}/api_keys`, { name: 'Other' })
    assert.equal((await app.appeal(String(eventId), 'x', textOf(key, 'value'))).status, 404)
    const { id } = await opened()
    const { admin } = await app.otherOrganization()
    assert.equal((await admin.send('GET', `/appeals/${id}`)).status, 404)
    assert.equal((await review(admin, id, { should: 'match' })).status, 404)
    assert.equal((await resolve(admin, id, { outcome: 'dismissed' })).status, 404)
    assert.deepEqual(itemsOf(await admin.get('/appeals')), [])
    const foreign = { event_id: eventId, note: 'x', claim: 'should_be_allowed' }
    const answer = await admin.send('POST', '/appeals', { body: foreign })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'event_id'])
  })

  it('hides decision, claim, note and labels until its reader has labelled it', async () => {
    const { id } = await opened()
    const reviewer = await app.reviewer()
    const blind = await reviewer.get(`/appeals/${id}?include=content`)
    assert.deepEqual(
      ['blind', 'may_review', 'claim', 'note', 'origin', 'decision', 'labels', 'agreed'].map((name) => blind[name]),
      [true, true, null, null, null, null, [], null],
    )
    assert.deepEqual([blind['text'], blind['is_text_kept']], ['A falcon is a bird of prey.', true])
    assert.equal((blind['policy'] as Json)['rule'], rule)
    const listed = itemsOf(await reviewer.get('/appeals?state=open')).find((each) => each['id'] === id)
    assert.deepEqual([listed?.['blind'], listed?.['decision'], listed?.['note']], [true, null, null])
    const { body } = await review(reviewer, id, { should: 'no_match', note: 'A bird.' })
    assert.deepEqual([body['blind'], body['agreed'], body['note']], [false, 'no_match', 'A falcon is a bird.'])
    const { decision, effective_decision: effect, check, score_bp: score } = body['decision'] as Json
    assert.deepEqual([decision, effect, check, score], ['refuse', 'refuse', 'policy', 10_000])
    const [label] = body['labels'] as Json[]
    assert.deepEqual([label?.['should'], label?.['blind'], label?.['note']], ['no_match', true, 'A bird.'])
  })

  it('records that a reviewer saw the decision before labelling', async () => {
    const { id } = await opened()
    const reviewer = await app.reviewer()
    assert.equal((await reviewer.get(`/appeals/${id}?blind=false`))['claim'], 'should_be_allowed')
    const { body } = await review(reviewer, id, { should: 'no_match' })
    assert.equal((body['labels'] as Json[])[0]?.['blind'], false)
    const other = await app.reviewer()
    const again = await review(other, id, { should: 'no_match' })
    assert.deepEqual(
      (again.body['labels'] as Json[]).map((label) => label['blind']),
      [false, true],
    )
    assert.deepEqual(await kindsOf(app.admin, id), [
      'appeal.opened',
      'appeal.revealed',
      'appeal.labelled',
      'appeal.labelled',
    ])
  })

  it('records that a list showed decisions before labelling', async () => {
    const { id } = await opened()
    const reviewer = await app.reviewer()
    await reviewer.get('/appeals?blind=false&limit=100')
    const { body } = await review(reviewer, id, { should: 'no_match' })
    assert.equal((body['labels'] as Json[])[0]?.['blind'], false)
  })

  it('is labelled once by each person, and not by who opened it', async () => {
    const reviewer = await app.reviewer()
    const { requestId } = await app.ask('Hello')
    const { event_id: eventId } = await app.admin.get(`/requests/${requestId}`)
    const body = { event_id: eventId, note: 'It should say no.', claim: 'should_be_denied', policy_id: app.policyId }
    const { id } = (await reviewer.post('/appeals', body)) as { id: string }
    assert.equal((await reviewer.get(`/appeals/${id}`))['may_review'], false)
    for (const answer of [
      await review(reviewer, id, { should: 'match' }),
      await resolve(reviewer, id, { outcome: 'dismissed' }),
    ])
      assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'invalid_state'])
    assert.equal((await review(app.admin, id, { should: 'match' })).status, 200)
    const twice = await review(app.admin, id, { should: 'no_match' })
    assert.deepEqual([twice.status, errorOf(twice)['code']], [409, 'invalid_state'])
    const appeal = (await app.decision(String(eventId)))['appeal'] as Json
    assert.deepEqual([appeal['allowed'], appeal['state']], [false, null])
  })

  it('asks a third person where two disagree, and is closed as the labels say', async () => {
    const { id } = await opened()
    const [first, second, third] = await Promise.all([app.reviewer(), app.reviewer(), app.reviewer()])
    const early = await resolve(first, id, { outcome: 'upheld' })
    assert.deepEqual([early.status, errorOf(early)['code']], [409, 'labels_disagree'])
    await review(first, id, { should: 'match' })
    const { body } = await review(second, id, { should: 'no_match' })
    assert.deepEqual([body['needs_third'], body['agreed']], [true, null])
    const open = await resolve(second, id, { outcome: 'overturned' })
    assert.deepEqual([open.status, errorOf(open)['code']], [409, 'labels_disagree'])
    await review(third, id, { should: 'no_match' })
    const wrong = await resolve(first, id, { outcome: 'upheld' })
    assert.deepEqual([wrong.status, errorOf(wrong)['param']], [409, 'outcome'])
    const closed = await resolve(first, id, { outcome: 'overturned', reason: 'Birds are fine.' })
    assert.deepEqual(
      [closed.status, closed.body['state'], closed.body['closed_by'] !== null],
      [200, 'overturned', true],
    )
    const again = await resolve(first, id, { outcome: 'overturned' })
    assert.deepEqual([again.status, errorOf(again)['code']], [409, 'invalid_state'])
  })

  it('that nobody is sure about can be dismissed, and its answer is shown to the caller', async () => {
    const { id, eventId } = await opened()
    const reviewer = await app.reviewer()
    const { body } = await review(reviewer, id, { should: 'unsure' })
    assert.deepEqual([body['agreed'], body['needs_third']], [null, false])
    assert.equal((await resolve(reviewer, id, { outcome: 'dismissed', reason: 'Ask legal.' })).status, 200)
    const appeal = (await app.decision(eventId))['appeal'] as Json
    assert.deepEqual([appeal['state'], appeal['reason']], ['dismissed', 'Ask legal.'])
  })

  it('is listed by state and policy', async () => {
    const { id } = await opened()
    const ids = async (query: string) =>
      itemsOf(await app.admin.get(`/appeals?limit=100&${query}`)).map((one) => one['id'])
    assert.ok((await ids(`state=open&policy_id=${app.policyId}`)).includes(id))
    assert.ok(!(await ids('state=overturned')).includes(id))
    assert.deepEqual(await ids('policy_id=pol_unknown'), [])
  })

  it('hides notes and texts without content:read, and rules without policies:read', async () => {
    const { id } = await opened()
    const reader = await app.adminWith(['reviews:read'])
    const body = await reader.get(`/appeals/${id}?blind=false`)
    assert.deepEqual([body['note'], (body['policy'] as Json)['rule'], body['text']], [null, null, null])
    assert.equal((await reader.send('GET', `/appeals/${id}?include=content`)).status, 403)
    assert.equal((await reader.send('POST', `/appeals/${id}/review`, { body: { should: 'match' } })).status, 403)
  })

  it('loses its notes with the texts of its request', async () => {
    const { id } = await opened()
    const reviewer = await app.reviewer()
    const { body } = await review(reviewer, id, { should: 'no_match', note: 'About a bird.' })
    const { request_id: requestId } = body as { request_id: string }
    await operatorOf(app.app, app.organizationId).eraseTexts(requestId)
    const erased = await reviewer.get(`/appeals/${id}?include=content`)
    assert.deepEqual([erased['note'], (erased['labels'] as Json[])[0]?.['note'], erased['text']], [null, null, null])
    const rejected = await resolve(reviewer, id, { outcome: 'overturned', case: true })
    assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'case'])
  })
})

describe('the way from a denial to a better rule', () => {
  it('lets the key of an overturned appeal through until a date, and nobody without policies:publish makes that', async () => {
    await using app = await openAppealScene()
    const id = textOf((await app.appeal(String((await app.deny()).event_id))).body)
    const reviewer = await app.adminWith(['reviews:read', 'reviews:write', 'content:read'])
    await reviewer.post(`/appeals/${id}/review`, { should: 'no_match' })
    const expiresAt = Math.floor(Date.now() / 1000) + 86_400
    const body = { outcome: 'overturned', exception: { for: 'key', expires_at: expiresAt } }
    assert.equal((await reviewer.send('POST', `/appeals/${id}/resolve`, { body })).status, 403)
    const unnamed = { ...body, exception: { ...body.exception, for: 'user' } }
    const rejected = await app.admin.send('POST', `/appeals/${id}/resolve`, { body: unnamed })
    assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'exception.for'])
    const late = { ...body, exception: { for: 'key', expires_at: expiresAt + 30 * 86_400 } }
    const tooLate = errorOf(await app.admin.send('POST', `/appeals/${id}/resolve`, { body: late }))
    assert.equal(tooLate['param'], 'exception.expires_at')
    assert.match(String(tooLate['message']), /^exception\.expires_at: must be at most 30 days ahead/)
    assert.deepEqual(itemsOf(await app.admin.get('/exceptions')), [])
    const { exception_id: exceptionId } = await app.admin.post(`/appeals/${id}/resolve`, body)
    const [made] = itemsOf(await app.admin.get('/exceptions'))
    assert.deepEqual([made?.['id'], made?.['expires_at'], made?.['policy_id']], [exceptionId, expiresAt, app.policyId])
    assert.equal((await app.ask('A falcon is a bird of prey.')).status, 200)
  })

  it('lets exactly the text of an overturned appeal through, and says why', async () => {
    await using app = await openAppealScene()
    const { event_id: eventId } = await app.deny()
    const id = textOf((await app.appeal(String(eventId))).body)
    await app.admin.post(`/appeals/${id}/review`, { should: 'no_match' })
    const expiresAt = Math.floor(Date.now() / 1000) + 86_400
    const exception = { for: 'text', reason: 'Birds are fine', expires_at: expiresAt }
    const body = { outcome: 'overturned', exception }
    const permissions = ['reviews:read', 'reviews:write', 'policies:publish'] as const
    const blind = await app.adminWith([...permissions])
    assert.equal((await blind.send('POST', `/appeals/${id}/resolve`, { body })).status, 403) // without content:read
    await app.admin.post(`/appeals/${id}/resolve`, body)
    const [made] = itemsOf(await app.admin.get('/exceptions'))
    assert.deepEqual([made?.['reason'], made?.['event_id']], ['Birds are fine', eventId])
    assert.equal((await app.ask('A falcon is a bird of prey.')).status, 200)
    assert.equal((await app.ask('Another falcon.')).status, 400)
  })

  it('makes no exception for a text that is not kept', async () => {
    await using app = await openAppealScene({ config: { audit: { content: 'none' } } })
    const id = textOf((await app.appeal(String((await app.deny()).event_id))).body)
    await app.admin.post(`/appeals/${id}/review`, { should: 'no_match' })
    const exception = { for: 'text', expires_at: Math.floor(Date.now() / 1000) + 86_400 }
    const rejected = await app.admin.send('POST', `/appeals/${id}/resolve`, {
      body: { outcome: 'overturned', exception },
    })
    assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'exception.for'])
    assert.equal((await app.admin.get(`/appeals/${id}`))['state'], 'open')
  })

  it('denies, appeals, reviews, makes a case, changes the draft and passes the gate', async () => {
    await using app = await openAppealScene()
    const { event_id: eventId } = await app.deny()
    const id = textOf((await app.appeal(String(eventId))).body)
    const policy = `/policies/${app.policyId}`
    const { revision } = (await app.admin.get(policy)) as { revision: number }
    await app.admin.post(`/appeals/${id}/review`, { should: 'no_match' })
    const draft = { rule: 'cel:text.contains("Project falcon")' }
    const stale = await app.admin.send('POST', `/appeals/${id}/resolve`, {
      body: { outcome: 'overturned', case: true, draft, revision: revision - 1 },
    })
    assert.deepEqual([stale.status, errorOf(stale)['code']], [409, 'revision_conflict'])
    assert.deepEqual(itemsOf(await app.admin.get(`${policy}/cases`)), []) // nothing of it was done
    const nameless = await app.admin.send('POST', `/appeals/${id}/resolve`, { body: { outcome: 'overturned', draft } })
    assert.deepEqual([nameless.status, errorOf(nameless)['param']], [422, 'revision'])
    const resolved = await app.admin.post(`/appeals/${id}/resolve`, {
      outcome: 'overturned',
      reason: 'Birds are fine.',
      case: { says: 'the bird', weight: 'must' },
      draft,
      revision,
    })
    assert.deepEqual([resolved['state'], resolved['draft_revision']], ['overturned', revision + 1])
    const [made] = itemsOf(await app.admin.get(`${policy}/cases`))
    assert.deepEqual(
      [made?.['id'], made?.['says'], made?.['origin'], made?.['event_id'], made?.['expect'], made?.['weight']],
      [resolved['case_id'], 'the bird', 'appeal', eventId, 'no_match', 'must'],
    )
    const run = async (use: string) => await app.admin.post(`${policy}/cases/run`, { use })
    assert.deepEqual([(await run('published'))['failed'], (await run('draft'))['passed']], [1, 1])
    const gate = await app.admin.post(`${policy}/gate`, { revision: revision + 1 })
    const cases = (gate['checks'] as Json[]).find(({ kind }) => kind === 'cases')
    assert.equal(cases?.['state'], 'passed')
    await app.admin.post(`${policy}/publish`, { revision: revision + 1 })
    assert.equal((await app.ask('A falcon is a bird of prey.')).status, 200)
    const appeal = (await app.decision(String(eventId)))['appeal'] as Json
    assert.deepEqual([appeal['state'], appeal['reason']], ['overturned', 'Birds are fine.'])
    assert.deepEqual(await kindsOf(app.admin, id), ['appeal.opened', 'appeal.labelled', 'appeal.overturned'])
  })
})
