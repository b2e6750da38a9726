import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { systemRandom } from '../../base/random.ts'
import { createDigest, kindOfSecret, mintSecret, redactSecret } from './key-format.ts'
import { deriveKey } from '../server-secret/keyring.ts'

describe('a key', () => {
  it('is recognised by its prefix and checksum', () => {
    assert.equal(kindOfSecret(mintSecret('ak', systemRandom)), 'ak')
    assert.equal(kindOfSecret(mintSecret('adm', systemRandom)), 'adm')
  })
  it('is invalid if any character is changed', () => {
    const secret = mintSecret('ak', systemRandom)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: secret.length - 1 }), fc.constantFrom(...'0Zz_-'), (at, other) => {
        fc.pre(secret[at] !== other)
        assert.equal(kindOfSecret(secret.slice(0, at) + other + secret.slice(at + 1)), undefined)
      }),
    )
  })
  it('is unique', () => {
    assert.equal(new Set(Array.from({ length: 1000 }, () => mintSecret('ak', systemRandom))).size, 1000)
  })
  it('is shown by its prefix and last four characters', () => {
    assert.match(redactSecret(mintSecret('adm', systemRandom)), /^adm_….{4}$/)
  })
  it('has another digest under another server secret', () => {
    const secret = mintSecret('ak', systemRandom)
    const digests = ['one secret of a server', 'another secret'].map((server) =>
      createDigest(deriveKey(server, 'key pepper'))(secret),
    )
    assert.notEqual(digests[0], digests[1])
  })
})
