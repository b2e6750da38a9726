import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFakeEncoder, type FakeLogits } from '../../../../test/support/fake-encoder.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { EncoderUnavailable } from './encoder.ts'
import { createAskEncoder, type EncoderAnswer } from './encoder-calls.ts'

const limitMs = 1_000

/** Asks an encoder that answers texts with "quick" and is silent about others. */
const question = { isUrgent: false, organizationId: 'org_1' }

function createScene(
  judge = (text: string): FakeLogits | Promise<FakeLogits> => (text.includes('quick') ? {} : silence),
) {
  const hand = createHandClock()
  const encoder = createFakeEncoder(judge)
  const results: string[] = []
  const ask = createAskEncoder({ encoder, clock: hand.clock, onResult: (result) => results.push(result) })
  const shown = (answer: EncoderAnswer | undefined) => (typeof answer === 'string' ? answer : 'judged')
  return {
    ...hand,
    encoder,
    results,
    ask: async (text: string) => shown((await ask([text], question, limitMs))[0]),
    /** Asks about texts, one after the other, and lets the time limit of each pass. */
    async askLate(...texts: readonly string[]): Promise<void> {
      for (const text of texts) {
        const pending = ask([text], question, limitMs)
        hand.advance(limitMs)
        assert.deepEqual(await pending, ['linear_encoder_late'])
      }
    },
  }
}

const silence = Promise.withResolvers<FakeLogits>().promise
const late = 'linear_encoder_late'

describe('an encoder that is late three times in a row', () => {
  it('is not asked for five seconds, in which texts do not wait', async () => {
    const { askLate, ask, advance, encoder, results } = createScene()
    await askLate('one', 'two', 'three')
    assert.equal(await ask('four'), late)
    advance(4_999)
    assert.equal(await ask('a quick text'), late)
    assert.deepEqual(encoder.texts, ['one', 'two', 'three'])
    assert.deepEqual(results, ['late', 'late', 'late', 'paused', 'paused'])
  })

  it('is then asked about one text, and about all after it has answered that', async () => {
    const { askLate, ask, advance, encoder } = createScene()
    await askLate('one', 'two', 'three')
    advance(5_000)
    const [first, second] = [ask('the first quick text'), ask('the second quick text')]
    assert.deepEqual([await first, await second], ['judged', late])
    assert.equal(await ask('the third quick text'), 'judged')
    assert.deepEqual(encoder.texts.slice(3), ['the first quick text', 'the third quick text'])
  })

  it('is not asked for another five seconds if it is late again', async () => {
    const { askLate, ask, advance } = createScene()
    await askLate('one', 'two', 'three')
    advance(5_000)
    await askLate('four')
    advance(4_999)
    assert.equal(await ask('a quick text'), late)
    advance(1)
    assert.equal(await ask('another quick text'), 'judged')
  })

  it('still has its answers for texts that it has read before', async () => {
    const { askLate, ask } = createScene()
    assert.equal(await ask('a quick text'), 'judged')
    await askLate('one', 'two', 'three')
    assert.equal(await ask('a quick text'), 'judged')
  })
})

describe('an encoder that is late now and then', () => {
  it('is asked about every text', async () => {
    const { askLate, ask } = createScene()
    for (const round of ['a', 'b', 'c']) {
      await askLate(`one ${round}`, `two ${round}`)
      assert.equal(await ask(`a quick text ${round}`), 'judged')
    }
  })
})

describe('an encoder that rejects texts', () => {
  it('is asked about the next one, and the reason is reported', async () => {
    const { ask, results } = createScene((reason) => {
      if (reason === 'failed') throw new Error('no memory')
      if (reason === 'busy' || reason === 'over_share' || reason === 'starting')
        throw new EncoderUnavailable(reason, 'not now')
      return {}
    })
    const expected = {
      busy: 'linear_encoder_busy',
      over_share: 'linear_encoder_busy',
      starting: 'linear_encoder_starting',
      failed: 'linear_encoder_failed',
    }
    for (const [reason, stage] of Object.entries(expected)) assert.equal(await ask(reason), stage)
    assert.equal(await ask('a text'), 'judged')
    assert.deepEqual(results, [...Object.keys(expected), 'judged'])
  })
})
