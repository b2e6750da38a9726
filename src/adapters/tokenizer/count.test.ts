import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countAll } from './count.ts'
import { planCount } from './slices.ts'

const charactersOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0)
const estimate = (texts: readonly string[]): number => {
  const { slices, scale } = planCount(texts)
  return Math.ceil(slices.reduce((sum, slice) => sum + countAll(slice), 0) * scale)
}

const prose = 'The quick brown fox jumps over the lazy dog, and 17 others follow; nobody knows why.\n'
const code = '{\n  "retries": 3,\n  "path": "/usr/local/bin",\n  "isEnabled": true\n},\n'
const chinese = '我们在这里讨论一个很长的问题，并且希望得到一个准确的答案。'

describe('token counts of texts up to a hundred thousand characters', () => {
  it('are the same as without slices', () => {
    for (const text of [prose.repeat(1_100), code.repeat(1_400), `${'x'.repeat(40)} `.repeat(2_000)]) {
      assert.ok(planCount([text]).slices.length > 20)
      assert.equal(estimate([text]), countAll([text]))
    }
  })
  it('are added up over many texts', () => {
    const texts = Array.from({ length: 3_000 }, (_, at) => `item ${at}`)
    assert.equal(estimate(texts), countAll(texts))
    assert.ok(planCount(texts).slices.every((slice) => slice.length <= 128))
  })
  it('are taken without splitting a character', () => {
    assert.equal(
      planCount(['😀'.repeat(9_999)])
        .slices.flat()
        .join('')
        .isWellFormed(),
      true,
    )
    for (const slice of planCount([`a${'😀'.repeat(9_999)}`]).slices) assert.ok(slice.join('').isWellFormed())
  })
})

describe('token counts of longer texts', () => {
  it('cost no more, for one text or many', () => {
    for (const texts of [
      [prose.repeat(40_000)],
      Array.from({ length: 40_000 }, () => prose),
      ['a'.repeat(10_000_000)],
    ]) {
      const { slices } = planCount(texts)
      assert.ok(slices.reduce((sum, slice) => sum + charactersOf(slice), 0) <= 100_000)
      assert.ok(slices.every((slice) => charactersOf(slice) <= 4_096))
    }
  })
  it('are estimated within five percent, also for mixed texts', () => {
    const halves = [prose.repeat(4_000), code.repeat(4_000)]
    const mixed = Array.from({ length: 600 }, (_, at) => [prose, code, chinese][at % 3]?.repeat(10 + (at % 7)) ?? '')
    const apart = [prose.repeat(3_000) + chinese.repeat(4_000) + prose.repeat(1_000)]
    for (const texts of [[prose.repeat(6_000)], halves, mixed, apart]) {
      const whole = countAll(texts)
      assert.ok(Math.abs(estimate(texts) - whole) < whole * 0.05, `${estimate(texts)} for ${whole}`)
    }
  })
})
