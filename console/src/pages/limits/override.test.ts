import assert from 'node:assert/strict'
import { it } from 'node:test'
import { overrideCommand, subjectOf } from './override.ts'

it('the subject of a limit is named by its kind, and the organization by naming none', () =>
  assert.deepEqual(
    [subjectOf('organization', 'org_1'), subjectOf('project', 'proj_1'), subjectOf('key', 'key_1')],
    [{}, { project_id: 'proj_1' }, { api_key_id: 'key_1' }],
  ))

it('the command sets the limits that are given, also zero', () => {
  assert.equal(
    overrideCommand({ project_id: 'proj_1' }, { rpm: 60, tpd: 0 }),
    'gatehouse orgs set-limits --project proj_1 --rpm 60 --tpd 0',
  )
  assert.equal(overrideCommand({}, {}), 'gatehouse orgs set-limits')
})
