import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemRandom } from './random.ts'
import { createSeal } from './seal.ts'

const seal = createSeal(systemRandom.bytes(32), systemRandom)

describe('a seal', () => {
  it('gives back the text that was closed in, whatever it holds', () => {
    for (const text of ['', 'adm_secret', '😀\n"'.repeat(5_000)]) {
      assert.equal(seal.open(seal.close(text, 'here'), 'here'), text)
    }
  })

  it('shows nothing of the text, and never looks the same twice', () => {
    const [first, second] = [seal.close('adm_secret', 'here'), seal.close('adm_secret', 'here')]
    assert.equal(Buffer.from(first).includes('adm_secret'), false)
    assert.notDeepEqual(first, second)
  })

  it('does not open with another key, in another place, or after a change', () => {
    const sealed = seal.close('text', 'here')
    const changed = Uint8Array.from(sealed, (byte, at) => (at === 13 ? byte ^ 1 : byte))
    assert.throws(() => createSeal(systemRandom.bytes(32), systemRandom).open(sealed, 'here'))
    assert.throws(() => seal.open(sealed, 'there'))
    assert.throws(() => seal.open(changed, 'here'))
    assert.throws(() => seal.open(sealed.subarray(0, 5), 'here'))
  })
})
