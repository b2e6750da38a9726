import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEncryption } from '../../base/encryption.ts'
import { systemRandom } from '../../base/random.ts'
import { createReplaySampler } from './replay-sample.ts'

const hourMs = 3_600_000
const encryption = createEncryption(new Uint8Array(32), systemRandom)

/** The requests of an hour, in order; returns which of them were sealed. */
function sealedOf(perHour: number, requests: number, { seed = 1 } = {}): number[] {
  let state = seed
  const fraction = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const sampler = createReplaySampler({ perHour, encryption, random: { fraction } })
  return Array.from({ length: requests }, (_, at) => at).filter((at) => {
    const position = sampler.draw('org_1', 0)
    if (position === undefined) return false
    return sampler.seal({ organizationId: 'org_1', eventId: `evt_${at}`, atMs: 0, position }, () => ({})) !== undefined
  })
}

describe('the sampler of requests for replays', () => {
  it('seals few more texts than stay, and fewer the longer the hour is', () => {
    const sealed = sealedOf(20, 20_000)
    assert.deepEqual(
      sealed.slice(0, 20),
      Array.from({ length: 20 }, (_, at) => at),
    )
    assert.ok(sealed.length < 300, `${sealed.length} of 20000`) // expected: 20 + 20 ln(1000) = 158
    assert.ok(sealed.filter((at) => at >= 10_000).length < 40)
  })

  it('starts again with each hour and for each organization', () => {
    const sampler = createReplaySampler({ perHour: 1, encryption, random: { fraction: () => 0.5 } })
    const sealAt = (organizationId: string, atMs: number): boolean => {
      const position = sampler.draw(organizationId, atMs)
      if (position === undefined) return false
      return sampler.seal({ organizationId, eventId: 'evt_1', atMs, position }, () => ({})) !== undefined
    }
    assert.deepEqual([sealAt('a', 0), sealAt('a', 1), sealAt('b', 1), sealAt('a', hourMs)], [true, false, true, true])
    assert.equal(sealAt('a', hourMs - 1), true, 'the database knows the limit of the hour before')
  })

  it('reads no text of a request that does not stay', () => {
    const fractions = [0.5, 0.6, 0.7]
    const sampler = createReplaySampler({
      perHour: 1,
      encryption,
      random: { fraction: () => fractions.pop() ?? assert.fail() },
    })
    const drawn = [sampler.draw('a', 0), sampler.draw('a', 0)]
    const [high = NaN, low = NaN] = drawn
    const sealed = (position: number, texts: () => object) =>
      sampler.seal({ organizationId: 'a', eventId: 'evt_1', atMs: 0, position }, texts)
    assert.ok(sealed(low, () => ({ prompt: 'one' })))
    assert.equal(
      sealed(high, () => assert.fail('the text was read')),
      undefined,
    )
  })
})
