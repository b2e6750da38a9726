import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { permissions } from './permissions.ts'
import { highestRole, permissionsOf, roleNames } from './roles.ts'

describe('roles', () => {
  it('only an owner may do everything or change members', () => {
    for (const role of roleNames.filter((name) => name !== 'owner')) {
      assert.ok(!permissionsOf(role).includes('*'), role)
      assert.ok(!permissionsOf(role).includes('members:write'), role)
    }
    assert.deepEqual(permissionsOf('owner'), ['*'])
  })

  it('a publisher may do what an author may, and publish', () => {
    assert.deepEqual(new Set(permissionsOf('publisher')), new Set([...permissionsOf('author'), 'policies:publish']))
  })

  it('an auditor has every permission to read except to read texts, and no other', () => {
    const reads = permissions.filter((name) => name.endsWith(':read') && name !== 'content:read')
    assert.deepEqual(new Set(permissionsOf('auditor')), new Set(reads))
  })

  it('the highest of several roles wins, in whatever order they come', () => {
    assert.equal(highestRole(['auditor', 'publisher', 'author']), 'publisher')
    assert.equal(highestRole(['author', 'owner']), 'owner')
    assert.equal(highestRole([]), undefined)
  })
})
