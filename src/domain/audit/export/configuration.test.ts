import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changedFields, maskOf, merged, secretsIn, withMasks, withoutMasks, withValues } from './configuration.ts'

const fields = ['token', 'auth.password']
const config = {
  url: 'https://x',
  token: 'a-token-that-is-long',
  auth: { type: 'basic', username: 'u', password: 'short' },
}
const shown = { ...config, token: '••••long', auth: { ...config.auth, password: '••••' } }

describe('secrets', () => {
  it('are masked except for the last four characters, and completely if they are short', () => {
    assert.deepEqual([maskOf('0123456789abcdef'), maskOf('0123456789abcde')], ['••••cdef', '••••'])
  })

  it('can be removed from a configuration and restored', () => {
    const secrets = secretsIn(config, fields)
    assert.deepEqual(secrets, { token: config.token, 'auth.password': 'short' })
    assert.deepEqual(withMasks(config, secrets), shown)
    assert.deepEqual(withValues(shown, secrets), config)
  })

  it('that are sent back masked change nothing', () => {
    assert.deepEqual(withoutMasks({ token: '••••long', auth: { username: 'v', password: '••••' } }, shown, fields), {
      auth: { username: 'v' },
    })
    assert.deepEqual(withoutMasks({ token: '••••else' }, shown, fields), { token: '••••else' })
  })
})

describe('a change', () => {
  it('is merged field by field, at every depth', () => {
    assert.deepEqual(merged(config, { index: 'main', auth: { username: 'v' } }), {
      ...config,
      index: 'main',
      auth: { ...config.auth, username: 'v' },
    })
  })

  it('removes a field by null, and replaces lists', () => {
    const before = { filter: { event_types: ['policy'], decisions: ['refuse'] }, index: 'main' }
    assert.deepEqual(merged(before, { index: null, filter: { decisions: null, event_types: ['admin'] } }), {
      filter: { event_types: ['admin'] },
    })
  })

  it('of an object to another type keeps no field of the previous one', () => {
    assert.deepEqual(merged(config, { auth: { type: 'api_key', api_key: 'k' } }).auth, {
      type: 'api_key',
      api_key: 'k',
    })
  })

  it('lists the changed fields', () => {
    const after = merged(config, { url: 'https://y', auth: { username: 'u' } })
    assert.deepEqual(changedFields(config, after, ['url', 'auth.username', 'region']), ['url'])
  })
})
