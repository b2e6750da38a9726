import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemRandom } from '../../base/random.ts'
import { createKeyring } from './keyring.ts'
import { createKeyringEncryption } from './keyring-encryption.ts'

describe('a value encrypted with the server secret', () => {
  const keyring = createKeyring({ current: 'one' })
  const encryption = createKeyringEncryption(keyring, 'a purpose', systemRandom)
  const old = encryption.encrypt('text', 'here')

  it('can be decrypted only while its secret is accepted', () => {
    keyring.use({ current: 'two', previous: 'one' })
    assert.deepEqual([encryption.decrypt(old, 'here'), encryption.isCurrent(old, 'here')], ['text', false])
    const again = encryption.encrypt('text', 'here')
    keyring.use({ current: 'two' })
    assert.throws(() => encryption.decrypt(old, 'here'))
    assert.deepEqual([encryption.decrypt(again, 'here'), encryption.isCurrent(again, 'here')], ['text', true])
  })

  it('can be decrypted only with the same context and purpose', () => {
    const encrypted = encryption.encrypt('text', 'here')
    assert.throws(() => encryption.decrypt(encrypted, 'there'))
    assert.throws(() => createKeyringEncryption(keyring, 'another purpose', systemRandom).decrypt(encrypted, 'here'))
  })
})

describe('the keyring', () => {
  it('accepts a secret once, even if it is configured under several names', () => {
    const { accepted } = createKeyring({ current: 'one', previous: 'one', next: 'one' })
    assert.deepEqual(
      accepted().map(({ role }) => role),
      ['current'],
    )
  })

  it('lists every secret that it ever had, so that logs can redact them', () => {
    const keyring = createKeyring({ current: 'one', previous: 'zero' })
    keyring.use({ current: 'two', previous: 'one' })
    assert.deepEqual(new Set(keyring.texts()), new Set(['zero', 'one', 'two']))
  })

  it('identifies a secret by an id that does not reveal it', () => {
    const [one, other] = ['one', 'other'].map((current) => createKeyring({ current }).current().id)
    assert.match(one ?? '', /^[0-9a-f]{16}$/)
    assert.notEqual(one, other)
  })
})
