import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { command, quoted } from './command.ts'

describe('a command', () => {
  it('has options with values and flags, and leaves out what is undefined', () =>
    assert.equal(
      command('keys create', { admin: true, name: 'Ann', models: undefined, expires: '2027-01-31' }),
      'gatehouse keys create --admin --name Ann --expires 2027-01-31',
    ))
  it('keeps an empty value, which clears a field', () =>
    assert.equal(command('keys update key_1', { permissions: '' }), "gatehouse keys update key_1 --permissions ''"))
})

describe('a word for the shell', () => {
  it('is plain if the shell does not change it', () => assert.equal(quoted('10.0.0.0/8,a@b.c'), '10.0.0.0/8,a@b.c'))
  it('is quoted if it has a space, a variable or nothing in it', () => {
    assert.equal(quoted('two words'), "'two words'")
    assert.equal(quoted('$HOME'), "'$HOME'")
    assert.equal(quoted(''), "''")
  })
  it('keeps an apostrophe', () => assert.equal(quoted("Ann's"), String.raw`'Ann'\''s'`))
})
