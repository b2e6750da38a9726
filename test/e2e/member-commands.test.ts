import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openCommandLine } from '../support/command-line.ts'

it('gatehouse members adds, changes, suspends and removes a member, and sign-ins lists browsers', async () => {
  await using cli = await openCommandLine()
  await cli.call('setup')
  const added = await cli.json('members', 'add', '--email', 'Ada@example.com', '--role', 'auditor', '--name', 'Ada')
  assert.deepEqual([added.email, added.role, added.status], ['ada@example.com', 'auditor', 'invited'])
  assert.equal((await cli.json('members', 'update', added.id, '--role', 'owner')).role, 'owner')
  assert.equal((await cli.json('members', 'suspend', added.id)).status, 'suspended')
  assert.equal((await cli.json('members', 'activate', added.id)).status, 'invited')
  const list = await cli.call('members', 'list')
  assert.match(list.output, /Ada +ada@example\.com +owner +invitation +invited/)
  const removed = await cli.call('members', 'remove', added.id)
  assert.equal(removed.output, `${added.id} is removed, and its sessions have ended.`)
  assert.deepEqual((await cli.json('members', 'list')).data, [])
  assert.deepEqual((await cli.json('sign-ins', 'list')).data, [])
  const unknown = await cli.call('sign-ins', 'end', 'ses_1')
  assert.deepEqual([unknown.status, unknown.errors.includes('There is no sign-in ses_1.')], [1, true])
})

it('gatehouse keys create --admin --role gives a key the permissions of the role', async () => {
  await using cli = await openCommandLine()
  await cli.call('setup')
  const key = await cli.json('keys', 'create', '--admin', '--name', 'Bills', '--role', 'billing')
  assert.deepEqual(key.permissions, [
    'usage:read',
    'credits:write',
    'budgets:read',
    'budgets:write',
    'projects:read',
    'keys:read',
    'alerts:read',
    'alerts:write',
  ])
  assert.equal((await cli.call('keys', 'create', '--name', 'Bills', '--role', 'billing')).status, 2)
})
