import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemRandom } from './random.ts'
import { createEncryption } from './encryption.ts'

const encryption = createEncryption(systemRandom.bytes(32), systemRandom)

describe('encryption', () => {
  it('decrypts to the text that was encrypted', () => {
    for (const text of ['', 'adm_secret', '😀\n"'.repeat(5_000)]) {
      assert.equal(encryption.decrypt(encryption.encrypt(text, 'here'), 'here'), text)
    }
  })

  it('does not contain the text, and differs each time', () => {
    const [first, second] = [encryption.encrypt('adm_secret', 'here'), encryption.encrypt('adm_secret', 'here')]
    assert.equal(Buffer.from(first).includes('adm_secret'), false)
    assert.notDeepEqual(first, second)
  })

  it('fails with another key, with another context, or after a change', () => {
    const encrypted = encryption.encrypt('text', 'here')
    const changed = Uint8Array.from(encrypted, (byte, at) => (at === 13 ? byte ^ 1 : byte))
    assert.throws(() => createEncryption(systemRandom.bytes(32), systemRandom).decrypt(encrypted, 'here'))
    assert.throws(() => encryption.decrypt(encrypted, 'there'))
    assert.throws(() => encryption.decrypt(changed, 'here'))
    assert.throws(() => encryption.decrypt(encrypted.subarray(0, 5), 'here'))
  })
})
