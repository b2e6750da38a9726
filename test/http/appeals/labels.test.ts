import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Admin, type Json } from '../../support/administration.ts'
import { openAppealScene, type AppealScene } from '../../support/appeal-scene.ts'

describe('the list of labels', () => {
  let app: AppealScene
  let reviewers: readonly Admin[]
  before(async () => {
    app = await openAppealScene()
    reviewers = await Promise.all([app.reviewer(), app.reviewer()])
  })
  after(() => app[Symbol.asyncDispose]())

  /** A denied request, an appeal against it, and the labels of the first reviewers. */
  async function labelled(...answers: readonly string[]): Promise<{ readonly id: string; readonly eventId: string }> {
    const eventId = String((await app.deny())['event_id'])
    const id = textOf((await app.appeal(eventId)).body)
    for (const [at, should] of answers.entries())
      await reviewers[at]?.post(`/appeals/${id}/review`, { should, note: `It is ${should}.` })
    return { id, eventId }
  }
  const listed = async (admin: Admin, query: string): Promise<readonly Json[]> =>
    itemsOf(await admin.get(`/labels?${query}`))
  const answersIn = async (query: string): Promise<unknown[]> =>
    (await listed(app.admin, query)).map(({ should }) => should)

  it('has every field of a label, filters and pages, and no text', async () => {
    const { id, eventId } = await labelled('no_match', 'unsure')
    await reviewers[0]?.post(`/appeals/${id}/resolve`, { outcome: 'overturned', case: true })
    const [second, first] = await listed(app.admin, `event_id=${eventId}`)
    const { request_id: requestId, labelled_by: by, case_id: caseId } = first ?? {}
    assert.match(String(caseId), /^case_/)
    assert.deepEqual(first, {
      id: first?.['id'],
      object: 'organization.label',
      appeal_id: id,
      event_id: eventId,
      request_id: requestId,
      policy_id: app.policyId,
      case_id: caseId,
      should: 'no_match',
      blind: true,
      note: 'It is no_match.',
      labelled_by: by,
      labelled_at: first?.['labelled_at'],
    })
    assert.deepEqual(await answersIn(`event_id=${eventId}&should=unsure`), ['unsure'])
    assert.deepEqual(await answersIn(`event_id=${eventId}&by=${String(by)}`), ['no_match'])
    assert.deepEqual(await answersIn(`event_id=${eventId}&policy_id=${app.policyId}&order=asc`), ['no_match', 'unsure'])
    assert.deepEqual(await answersIn('policy_id=pol_other'), [])
    const page = await app.admin.get(`/labels?event_id=${eventId}&limit=1`)
    assert.deepEqual([page['has_more'], page['last_id']], [true, second?.['id']])
    assert.deepEqual(await answersIn(`event_id=${eventId}&after=${String(second?.['id'])}`), ['no_match'])
    assert.doesNotMatch(JSON.stringify(page), /falcon/i)
  })

  it('leaves labels of an open appeal out for who has not labelled it', async () => {
    const { id, eventId } = await labelled('match')
    const query = `event_id=${eventId}`
    const [first, second] = reviewers
    assert.ok(first && second)
    assert.equal((await listed(first, query)).length, 1)
    assert.deepEqual([await listed(second, query), await listed(app.admin, query)], [[], []])
    await second.post(`/appeals/${id}/review`, { should: 'match' })
    assert.equal((await listed(second, query)).length, 2)
    await first.post(`/appeals/${id}/resolve`, { outcome: 'upheld' })
    assert.equal((await listed(app.admin, query)).length, 2)
  })

  it('has notes only with the permission content:read', async () => {
    const { id, eventId } = await labelled('match')
    await reviewers[0]?.post(`/appeals/${id}/resolve`, { outcome: 'upheld' })
    const auditor = await app.adminWith(['reviews:read'])
    assert.deepEqual(
      (await listed(auditor, `event_id=${eventId}`)).map(({ note }) => note),
      [null],
    )
    const other = await app.adminWith(['policies:read'])
    assert.equal((await other.send('GET', '/labels')).status, 403)
  })

  it('is of one organization', async () => {
    const { id } = await labelled('match')
    await reviewers[0]?.post(`/appeals/${id}/resolve`, { outcome: 'upheld' })
    const [label] = await listed(app.admin, 'limit=1')
    const { admin: stranger } = await app.otherOrganization()
    assert.deepEqual(await listed(stranger, 'limit=100'), [])
    const foreign = await stranger.send('GET', `/labels?after=${String(label?.['id'])}`)
    assert.deepEqual([foreign.status, errorOf(foreign)['code']], [400, 'invalid_cursor'])
  })

  it('rejects filters that it does not know', async () => {
    for (const [query, param] of [
      ['should=maybe', 'should'],
      ['state=open', 'state'],
    ] as const) {
      const answer = await app.admin.send('GET', `/labels?${query}`)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
    }
  })
})
