import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { buildKernel } from '../../../../../scripts/classifier/build-kernel.ts'
import { createReferenceScorer } from '../../../../../test/support/reference-scorer/reference-scorer.ts'
import { loadModel } from '../classifier.ts'
import { createTextScorer } from '../text-scorer.ts'
import { kernelFile, loadKernel } from './load.ts'

const model = loadModel()
const createScore = (): ReturnType<typeof createTextScorer> => createTextScorer(loadKernel(model))
const score = createScore()
const reference = createReferenceScorer(model)

const common =
  `the of and to in that is was for with it be at this not are but from or have they which you were her all she
  kill myself want die suicide child school young naked sex girl she is 14 hate stupid bomb make how steal weapon teen kids
  court panties kissed breasts 8th grade`.split(/\s+/)
const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCXYZ')
const words = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...common) },
  { weight: 3, arbitrary: fc.string({ unit: letters, minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: letters, minLength: 30, maxLength: 70 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ..."k1ll k!ll f*ck don't girl's 's sooooo $ex h@te 14yo $$$ klil myslf flesym s**c*d*".split(' '),
    ),
  },
  { weight: 1, arbitrary: fc.nat(99_999).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ..."k i l l;d.i.e;s-e-x;a b c d e f g;x y;I a m;d o n ' t;t o  m y;i  l i v e".split(';'),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'кill',
      'убить',
      '日本語',
      '死にたい',
      'がﾊﾞx',
      'か\u3099\u309a',
      'मरना',
      'ＫＩＬＬ',
      'e\u0301',
      '😀',
      '\ud83d',
      '…',
    ),
  },
)
const gaps = fc.constantFrom(' ', ' ', ' ', ' ', ', ', '. ', '\n', ' - ', "'", '*', '$', '', '\0')
const texts = fc
  .array(fc.tuple(words, gaps), { maxLength: 400, size: 'max' })
  .map((list) => list.map(([word, gap]) => word + gap).join(''))

describe('the kernel', () => {
  it('is built from its source, byte for byte, and is small', async () => {
    const bytes = readFileSync(kernelFile)
    assert.ok(bytes.equals(await buildKernel()), 'run node scripts/build-kernel.ts')
    assert.ok(bytes.byteLength <= 10 * 1024)
  })

  it('scores every text exactly as the trainer reads it', () => {
    fc.assert(
      fc.property(texts, (text) => assert.deepEqual(score(text), reference(text))),
      { numRuns: 400 },
    )
  })

  it('scores long texts, and texts of one kind of character, as the trainer reads them', () => {
    const endless = ['', ' ', '!!!', 'a'.repeat(100_000), 'x '.repeat(20_000), 'ab '.repeat(40_000), '日'.repeat(9_000)]
    for (const text of [...endless, 'she is a child, '.repeat(2_000), '$'.repeat(500), "a'".repeat(500)])
      assert.deepEqual(score(text), reference(text), text.slice(0, 20))
  })

  it('gives the same text the same scores, however many words it has read before', () => {
    const text = 'the cat sat on the mat and I said nothing of k1lling time'
    const fresh = createScore()
    const before = fresh(text)
    for (let count = 0; count < 60_000; count += 10) {
      fresh(Array.from({ length: 10 }, (_, at) => `w${(count + at).toString(36)}`).join(' '))
      if (count % 1_000 === 0) assert.deepEqual(fresh(text), before)
    }
  })
})
