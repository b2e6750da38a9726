import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemRandom } from '../../base/random.ts'
import { createKeyring } from './keyring.ts'
import { createKeyringEncryption } from './keyring-encryption.ts'

describe('what is encrypted with the server secret', () => {
  const keyring = createKeyring({ current: 'one' })
  const seal = createKeyringEncryption(keyring, 'a purpose', systemRandom)
  const old = seal.encrypt('text', 'here')

  it('is decrypted while its secret is accepted, and then no more', () => {
    keyring.use({ current: 'two', previous: 'one' })
    assert.deepEqual([seal.decrypt(old, 'here'), seal.isCurrent(old, 'here')], ['text', false])
    const again = seal.encrypt('text', 'here')
    keyring.use({ current: 'two' })
    assert.throws(() => seal.decrypt(old, 'here'))
    assert.deepEqual([seal.decrypt(again, 'here'), seal.isCurrent(again, 'here')], ['text', true])
  })

  it('is of its place and its purpose alone', () => {
    const sealed = seal.encrypt('text', 'here')
    assert.throws(() => seal.decrypt(sealed, 'there'))
    assert.throws(() => createKeyringEncryption(keyring, 'another purpose', systemRandom).decrypt(sealed, 'here'))
  })
})

describe('the keyring', () => {
  it('takes the same secret twice for one', () => {
    const { accepted } = createKeyring({ current: 'one', previous: 'one', next: 'one' })
    assert.deepEqual(
      accepted().map(({ role }) => role),
      ['current'],
    )
  })

  it('names every secret that it had, so that no log shows one', () => {
    const keyring = createKeyring({ current: 'one', previous: 'zero' })
    keyring.use({ current: 'two', previous: 'one' })
    assert.deepEqual(new Set(keyring.texts()), new Set(['zero', 'one', 'two']))
  })

  it('says nothing of a secret by its id', () => {
    const [one, other] = ['one', 'other'].map((current) => createKeyring({ current }).current().id)
    assert.match(one ?? '', /^[0-9a-f]{16}$/)
    assert.notEqual(one, other)
  })
})
