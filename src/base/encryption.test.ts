import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemRandom } from './random.ts'
import { createEncryption } from './encryption.ts'

const seal = createEncryption(systemRandom.bytes(32), systemRandom)

describe('encryption', () => {
  it('decrypts to the text that was encrypted', () => {
    for (const text of ['', 'adm_secret', '😀\n"'.repeat(5_000)]) {
      assert.equal(seal.decrypt(seal.encrypt(text, 'here'), 'here'), text)
    }
  })

  it('does not contain the text, and differs each time', () => {
    const [first, second] = [seal.encrypt('adm_secret', 'here'), seal.encrypt('adm_secret', 'here')]
    assert.equal(Buffer.from(first).includes('adm_secret'), false)
    assert.notDeepEqual(first, second)
  })

  it('fails with another key, with another context, or after a change', () => {
    const sealed = seal.encrypt('text', 'here')
    const changed = Uint8Array.from(sealed, (byte, at) => (at === 13 ? byte ^ 1 : byte))
    assert.throws(() => createEncryption(systemRandom.bytes(32), systemRandom).decrypt(sealed, 'here'))
    assert.throws(() => seal.decrypt(sealed, 'there'))
    assert.throws(() => seal.decrypt(changed, 'here'))
    assert.throws(() => seal.decrypt(sealed.subarray(0, 5), 'here'))
  })
})
