import assert from 'node:assert/strict'
import { it } from 'node:test'
import { changedFields } from './changes.ts'

it('the fields of an event stand beside their values before, where it records them', () => {
  const details = { mode: 'enforcing', version: { id: 'v' }, before: { mode: 'monitoring' } }
  assert.deepEqual(changedFields(details), [
    { name: 'mode', before: 'monitoring', after: 'enforcing' },
    { name: 'version', before: undefined, after: '{\n "id": "v"\n}' },
  ])
  assert.deepEqual(changedFields({}), [])
})
