import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

const wrong: [body: object, param: string][] = [
  [{ rule: 'r' }, 'name'],
  [{ name: 'n' }, 'rule'],
  [{ name: null, rule: 'r' }, 'name'],
  [{ name: '', rule: 'r' }, 'name'],
  [{ name: 'n'.repeat(81), rule: 'r' }, 'name'],
  [{ name: 'n', rule: '' }, 'rule'],
  [{ name: 'n', rule: 'r'.repeat(20_001) }, 'rule'],
  [{ name: 'n', rule: 'cel:text ==' }, 'rule'],
  [{ name: 'n', rule: 'cel:text' }, 'rule'],
  [{ name: 'n', rule: 'r', description: 'd'.repeat(241) }, 'description'],
  [{ name: 'n', rule: 'r', direction: 'up' }, 'direction'],
  [{ name: 'n', rule: 'r', mode: 'draft' }, 'mode'],
  [{ name: 'n', rule: 'r', scope: 'all' }, 'scope'],
  [{ name: 'n', rule: 'r', project_ids: 'proj_1' }, 'project_ids'],
  [{ name: 'n', rule: 'r', project_ids: ['proj_1', 7] }, 'project_ids[1]'],
  [{ name: 'n', rule: 'r', project_ids: ['proj_nobody'] }, 'project_ids[0]'],
  [{ name: 'n', rule: 'r', project_ids: Array.from({ length: 1001 }, () => 'p') }, 'project_ids'],
  [{ name: 'n', rule: 'r', match_threshold_basis_points: 0 }, 'match_threshold_basis_points'],
  [{ name: 'n', rule: 'r', match_threshold_basis_points: 10_000 }, 'match_threshold_basis_points'],
  [{ name: 'n', rule: 'r', match_threshold_basis_points: 1.5 }, 'match_threshold_basis_points'],
  [{ name: 'n', rule: 'r', judge_window: 'sentence' }, 'judge_window'],
  [{ name: 'n', rule: 'r', revision: 1 }, 'revision'],
]

describe('creating a policy', () => {
  const { send, admin } = adminSuite()

  for (const [body, param] of wrong) {
    it(`names ${param} in ${JSON.stringify(body).slice(0, 80)}`, async () => {
      const answer = await send('POST', '/policies', body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
      assert.equal(errorOf(answer)['code'], 'invalid_parameter')
    })
  }

  it('names only the fields that are wrong', async () => {
    const valid = { rule: 'r', direction: 'both', mode: 'enforcing', scope: 'organization', judge_window: 'block' }
    const answer = await send('POST', '/policies', { ...valid, name: 'n'.repeat(81), pause_on_spike: false })
    assert.equal(errorOf(answer)['message'], 'name: must have at most 80 characters')
  })

  it('names the position of an error in an expression', async () => {
    const answer = await send('POST', '/policies', { name: 'n', rule: 'cel:text.size() > 3 &&\n  txt == ""' })
    assert.match(String(errorOf(answer)['message']), /^rule: line 2, column 3: Unknown variable: txt/)
  })

  it('stores nothing', async () => {
    assert.deepEqual((await admin().get('/policies'))['data'], [])
    assert.deepEqual((await admin().get('/audit_logs?kind=policy.created'))['data'], [])
  })
})

describe('a policy of projects', () => {
  const { send, admin } = adminSuite()

  it('names a project that is archived, when it is saved and when it is published', async () => {
    const [open, gone] = await Promise.all(
      ['Open', 'Gone'].map(async (name) => textOf(await admin().post('/projects', { name }))),
    )
    const fields = { name: 'Scoped', rule: 'r', scope: 'projects', project_ids: [open, gone] }
    const draft = await admin().post('/policies', fields)
    await admin().post(`/projects/${gone}/archive`, {})
    const path = `/policies/${textOf(draft)}`
    const message = `project_ids[1]: the project ${gone} is archived. Leave it out, or unarchive it first.`
    const rejected = [
      await send('POST', '/policies', { ...fields, name: 'Other' }),
      await send('PATCH', path, { revision: 1, project_ids: [open, gone] }),
      await send('POST', `${path}/publish`, { revision: 1 }),
    ]
    for (const answer of rejected)
      assert.deepEqual(
        [answer.status, errorOf(answer)['param'], errorOf(answer)['message']],
        [422, 'project_ids[1]', message],
      )
    assert.deepEqual(await admin().get(path), draft)
    assert.equal((await send('PATCH', path, { revision: 1, description: 'Other fields can change' })).status, 200)
    await admin().post(`/projects/${gone}/unarchive`, {})
    assert.equal((await send('POST', `${path}/publish`, { revision: 2 })).status, 200)
    await send('DELETE', `${path}?revision=3`)
  })
})
