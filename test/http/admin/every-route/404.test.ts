import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { errorOf, itemsOf, startAdminApp, type Admin, type AdminApp } from '../../../support/administration.ts'
import {
  adminRoutes,
  createOneOfEach,
  idsIn,
  pathOf,
  titleOf,
  type Belongings,
} from '../../../support/administration-routes.ts'

/** An unused id of this kind. */
const unknown: Belongings = {
  policy_id: 'pol_00000000000000000000000000',
  version_id: 'polv_00000000000000000000000000',
  project_id: 'proj_00000000000000000000000000',
  key_id: 'key_00000000000000000000000000',
  admin_key_id: 'adk_00000000000000000000000000',
  backtest_id: 'bt_00000000000000000000000000',
  case_id: 'case_00000000000000000000000000',
  gate_run_id: 'gate_00000000000000000000000000',
  exception_id: 'exc_00000000000000000000000000',
  judge_id: 'jdg_00000000000000000000000000',
  calibration_id: 'cal_00000000000000000000000000',
  event_id: 'evt_00000000000000000000000000',
  verification_id: 'aver_00000000000000000000000000',
  view_id: 'view_00000000000000000000000000',
  request_id: 'req_00000000000000000000000000',
  member_id: 'mem_00000000000000000000000000',
  sign_in_id: 'ses_00000000000000000000000000',
  upstream_id: 'ups_00000000000000000000000000',
  model_id: 'mdl_00000000000000000000000000',
  channel_id: 'chan_00000000000000000000000000',
  appeal_id: 'apl_00000000000000000000000000',
  budget_id: 'bud_00000000000000000000000000',
  rule_id: 'rule_00000000000000000000000000',
}

/** Each id of a path replaced by a foreign one in turn, and all of them together. */
function foreignMixes(names: readonly string[], own: Belongings, foreign: Belongings): Record<string, string>[] {
  const single = names.map((name) => ({ ...own, [name]: { ...foreign }[name] ?? '' }))
  return names.length > 1 ? [...single, { ...foreign }] : single
}

describe('an id of another organization', () => {
  let app: AdminApp
  let own: Belongings
  let other: { admin: Admin; ids: Belongings; projectId: string }
  before(async () => {
    app = await startAdminApp()
    own = await createOneOfEach(app.admin)
    const { admin, projectId } = await app.otherOrganization()
    other = { admin, projectId, ids: await createOneOfEach(admin) }
  })
  after(() => app[Symbol.asyncDispose]())

  for (const route of adminRoutes.filter((each) => idsIn(each).length > 0)) {
    it(`${titleOf(route)} answers as for an id that does not exist, and changes nothing`, async () => {
      const untouched = await everythingOf(other.admin)
      for (const mix of foreignMixes(idsIn(route), own, other.ids)) {
        const answer = await app.admin.send(route.method, pathOf(route, mix), { body: route.body })
        const absent = foreignToUnknown(mix, other.ids)
        const nothing = await app.admin.send(route.method, pathOf(route, absent), { body: route.body })
        assert.equal(answer.status, 404)
        assert.deepEqual(comparable(answer, mix), comparable(nothing, absent))
      }
      assert.deepEqual(await everythingOf(other.admin), untouched)
    })
  }

  it('cannot be a cursor', async () => {
    const cursors: [string, string][] = [
      ['/policies', other.ids.policy_id],
      [`/policies/${own.policy_id}/versions`, other.ids.version_id],
      ['/admin_api_keys', other.ids.admin_key_id],
      ['/projects', other.ids.project_id],
      ['/api_keys', other.ids.key_id],
      ['/members', other.ids.member_id],
      ['/sign_ins', other.ids.sign_in_id],
      [`/projects/${own.project_id}/api_keys`, other.ids.key_id],
      ['/credits/ledger', String(itemsOf(await other.admin.get('/credits/ledger'))[0]?.['id'])],
      ['/audit_logs', String(itemsOf(await other.admin.get('/audit_logs'))[0]?.['id'])],
    ]
    for (const [path, id] of cursors) {
      const answer = await app.admin.send('GET', `${path}?after=${id}`)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [400, 'invalid_cursor'], path)
    }
  })

  it('cannot be one of a policy’s projects', async () => {
    for (const id of [other.projectId, unknown.project_id]) {
      const body = { name: 'Reach', rule: 'Say "no"', project_ids: [own.project_id, id] }
      const created = await app.admin.send('POST', '/policies', { body })
      assert.deepEqual([created.status, errorOf(created)['param']], [422, 'project_ids[1]'])
      assert.equal(errorOf(created)['message'], `project_ids[1]: there is no project ${id}.`)
      const path = `/policies/${own.policy_id}`
      const changed = await app.admin.send('PATCH', path, { body: { revision: 2, project_ids: [id] } })
      assert.deepEqual([changed.status, errorOf(changed)['param']], [422, 'project_ids[0]'])
    }
  })

  it('cannot be used to read limits', async () => {
    for (const ids of [other.ids, unknown]) {
      for (const [query, param] of [
        [`project_id=${ids.project_id}`, 'project_id'],
        [`api_key_id=${ids.key_id}`, 'api_key_id'],
        [`project_id=${own.project_id}&api_key_id=${ids.key_id}`, 'api_key_id'],
      ] as const) {
        const answer = await app.admin.send('GET', `/limits?${query}`)
        assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
      }
      const limitCheck = { model: 'gatehouse-echo', input_tokens: 1 }
      const foreign = { ...limitCheck, project_id: ids.project_id }
      const mixed = { ...limitCheck, project_id: own.project_id, api_key_id: ids.key_id }
      for (const [body, param] of [
        [foreign, 'project_id'],
        [mixed, 'api_key_id'],
      ] as const) {
        const answer = await app.admin.send('POST', '/limits/check', { body })
        assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
      }
    }
  })

  it('as a filter of the audit log gives an empty list', async () => {
    for (const filter of [`policy_id=${other.ids.policy_id}`, `project_id=${other.ids.project_id}`]) {
      assert.deepEqual(itemsOf(await app.admin.get(`/audit_logs?${filter}`)), [])
    }
  })
})

function foreignToUnknown(mix: Readonly<Record<string, string>>, foreign: Belongings): Record<string, string> {
  const foreignIds = new Set(Object.values(foreign))
  const nobody: Record<string, string> = { ...unknown }
  return Object.fromEntries(
    Object.entries(mix).map(([name, id]) => [name, foreignIds.has(id) ? (nobody[name] ?? '') : id]),
  )
}

/** The error response without its request id and the requested ids, which differ between any two requests. */
function comparable(answer: Parameters<typeof errorOf>[0], ids: Readonly<Record<string, string>>) {
  const { request_id: requestId, ...error } = errorOf(answer)
  assert.equal(requestId, answer.headers.get('x-request-id'))
  const text = Object.entries(ids).reduce((words, [name, id]) => words.replaceAll(id, name), JSON.stringify(error))
  return { status: answer.status, error: JSON.parse(text) as unknown }
}

/** The service signs the log now and then, with or without a request. */
const signed = 'audit.checkpoint'

async function everythingOf(admin: Admin) {
  const lists = await Promise.all(
    ['/policies', '/admin_api_keys', '/projects', '/members', '/sign_ins', '/audit_logs'].map((path) =>
      admin.get(`${path}?limit=100`),
    ),
  )
  const keys = itemsOf(await admin.get('/projects')).map(({ id }) => admin.get(`/projects/${String(id)}/api_keys`))
  const all = [...lists, ...(await Promise.all(keys))].flatMap(itemsOf).filter(({ kind }) => kind !== signed)
  return all.map(({ last_used_at: _usedToAsk, ...rest }) => rest)
}
