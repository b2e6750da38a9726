import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { command } from '../../kit/command.ts'
import { changedOptions, keyOptions } from './commands.ts'
import { createBody, dayOf, draftOf, emptyDraft, endOfDay, lastDayOf, updateBody, type KeyDraft } from './key-draft.ts'
import type { AnyKey } from './queries.ts'

/** The end of the last day, 31 January. */
const midnight = new Date(2027, 1, 1).getTime() / 1_000
const draft = (changed: Partial<KeyDraft>): KeyDraft => ({ ...emptyDraft, name: 'Bot', ...changed })
const filled = draft({
  models: ' gpt-5,\nclaude  ',
  permissions: ['gateway:read', 'gateway:write'],
  expires: '2027-01-31',
  addresses: '10.0.0.0/8, 192.0.2.1',
})
const createCommand = (from: KeyDraft, project?: string): string => command('keys create', keyOptions(from, project))
const updateCommand = (before: KeyDraft, after: KeyDraft): string =>
  command('keys update key_1', changedOptions(before, after))

describe('a new key', () => {
  it('has what was filled in, as a request and as a command', () => {
    assert.deepEqual(createBody(filled, false), {
      name: 'Bot',
      permissions: ['gateway:read', 'gateway:write'],
      models: ['gpt-5', 'claude'],
      expires_at: midnight,
      allowed_ips: ['10.0.0.0/8', '192.0.2.1'],
    })
    assert.equal(
      createCommand(filled, 'proj_1'),
      `gatehouse keys create --project proj_1 --name Bot --models gpt-5,claude --permissions gateway:read,gateway:write ` +
        `--expires ${new Date(midnight * 1_000).toISOString()} --allow-ip 10.0.0.0/8,192.0.2.1`,
    )
  })
  it('leaves the defaults of the server where nothing was filled in', () => {
    assert.deepEqual(createBody(draft({}), false), { name: 'Bot' })
    assert.equal(createCommand(draft({ name: ' ' }), 'proj_1'), 'gatehouse keys create --project proj_1 --name NAME')
  })
  it('of an administrator has no permissions if none was chosen, as a request and as a command', () => {
    assert.deepEqual(createBody(draft({}), true), { name: 'Bot', permissions: [] })
    assert.equal(createCommand(draft({})), "gatehouse keys create --admin --name Bot --permissions ''")
  })
  it('of an administrator has a role in place of permissions', () => {
    const auditor = draft({ role: 'auditor', permissions: ['gateway:read'] })
    assert.deepEqual(createBody(auditor, true), { name: 'Bot', role: 'auditor' })
    assert.equal(createCommand(auditor), 'gatehouse keys create --admin --name Bot --role auditor')
  })
})

describe('a change of a key', () => {
  const key = {
    name: 'Bot',
    models: ['gpt-5'],
    permissions: ['gateway:read', 'gateway:write'],
    expires_at: midnight + 3_600,
    allowed_ips: null,
  } as unknown as AnyKey
  const before = draftOf(key)
  it('is nothing while the form is as it was read', () => {
    assert.deepEqual(updateBody(before, before), {})
    assert.equal(updateCommand(before, before), 'gatehouse keys update key_1')
  })
  it('removes a restriction whose field was emptied', () => {
    const after = { ...before, models: '', expires: '', permissions: [] }
    assert.deepEqual(updateBody(before, after), { permissions: [], models: null, expires_at: null })
    assert.equal(
      updateCommand(before, after),
      "gatehouse keys update key_1 --models any --permissions '' --expires never",
    )
  })
  it('is nothing if permissions are in another order', () => {
    const after = { ...before, permissions: before.permissions.toReversed() }
    assert.deepEqual(updateBody(before, after), {})
    assert.equal(updateCommand(before, after), 'gatehouse keys update key_1')
  })
})

it('a day is read and written in the time zone of the reader', () => {
  assert.equal(dayOf(midnight), '2027-02-01')
  assert.equal(dayOf(midnight - 1), '2027-01-31')
})

it('a key works until the end of the chosen day', () => {
  assert.equal(endOfDay('2027-01-31'), midnight)
  assert.equal(lastDayOf(midnight), '2027-01-31')
  assert.equal(lastDayOf(midnight + 3_600), '2027-02-01')
})
