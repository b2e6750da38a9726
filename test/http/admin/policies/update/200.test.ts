import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, textOf, type Json } from '../../../../support/administration.ts'
import { fieldSamples } from '../../../../support/policy-fields.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('updating a policy', () => {
  const { app, admin, send, policy } = adminSuite()
  const update = (of: Json, body: Json) =>
    send('PATCH', `/policies/${textOf(of)}`, { revision: of['revision'], ...body })

  it('changes the draft, increments the revision, and leaves the published version', async () => {
    const published = await policy({}, ['publish'])
    const { status, body } = await update(published, { mode: 'enforcing', rule: 'Say "never"' })
    assert.equal(status, 200)
    assert.equal(body['revision'], 3)
    assert.equal(body['state'], 'monitoring')
    assert.equal(body['has_unpublished_changes'], true)
    assert.deepEqual(body['published'], published['published'])
    assert.partialDeepStrictEqual(body['draft'], { mode: 'enforcing', rule: 'Say "never"', base_version: 1 })
    assert.deepEqual(await admin().get(`/policies/${textOf(published)}`), body)
  })

  it('ignores omitted and null fields, except for the threshold, which null clears', async () => {
    const full = await policy({
      description: 'Why',
      match_threshold_basis_points: 7000,
      project_ids: [app().projectId],
    })
    const nulls = { name: null, description: null, rule: null, direction: null, mode: null, scope: null }
    const cleared = await update(full, { ...nulls, project_ids: null, match_threshold_basis_points: null })
    assert.equal(cleared.body['revision'], 2)
    const { draft, ...own } = cleared.body
    const { draft: draftBefore, ...ownBefore } = full
    assert.deepEqual(draft, { ...(draftBefore as object), match_threshold_basis_points: null })
    assert.deepEqual({ ...own, revision: 1, updated_at: 0 }, { ...ownBefore, updated_at: 0 })
  })

  it('changes each field alone, with a revision, a stored value and an audit record', async () => {
    for (const { name, values } of fieldSamples(app().projectId)) {
      let before = await policy({}, ['publish'])
      for (const value of values) {
        const { status, body } = await update(before, { [name]: value })
        assert.deepEqual([status, body['revision']], [200, Number(before['revision']) + 1], name)
        assert.deepEqual(body['draft'], { ...(before['draft'] as object), [name]: value })
        assert.deepEqual(await admin().get(`/policies/${textOf(before)}`), body)
        const [entry] = itemsOf(await admin().get(`/audit_logs?policy_id=${textOf(before)}&limit=1`))
        const old = (before['draft'] as Json)[name]
        assert.deepEqual(entry?.['details'], { [name]: value, before: { [name]: old } })
        before = body
      }
    }
  })

  it('answers a change without effect with the current revision, and writes nothing to the audit log', async () => {
    const before = await policy({ project_ids: [app().projectId] })
    const same = { name: before['name'], mode: 'monitoring', project_ids: [app().projectId, app().projectId] }
    for (const body of [{}, same]) {
      const answer = await update(before, body)
      assert.deepEqual([answer.status, answer.body], [200, before])
    }
    const entries = itemsOf(await admin().get(`/audit_logs?policy_id=${textOf(before)}`))
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['policy.created'],
    )
  })

  it('changes name and description at once, without a publication', async () => {
    const published = await policy({}, ['publish'])
    const { body } = await update(published, { name: 'Other', description: 'Because' })
    assert.deepEqual([body['name'], body['description'], body['has_unpublished_changes']], ['Other', 'Because', false])
  })

  it('accepts the largest allowed body', async () => {
    const { status } = await update(await policy(), { rule: 'r'.repeat(20_000), description: 'd'.repeat(240) })
    assert.equal(status, 200)
  })
})
