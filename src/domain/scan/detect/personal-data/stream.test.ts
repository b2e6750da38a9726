import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { redact, restorePlaceholders } from './redact.ts'
import { createRedactionStream, createRestorationStream } from './stream.ts'
import type { TextStream } from './stream.ts'
import { createPlaceholderMap } from './placeholder-map.ts'

const known: string[] = JSON.parse(
  readFileSync(new URL('../../cases/personal-data.json', import.meta.url), 'utf8'),
).map((each: { text: string }) => each.text)

/** Text with personal data, parts of it, labels, placeholders and plain words in any order. */
const fragment = fc.oneof(
  fc.constantFrom(...known),
  fc.constantFrom(
    'my name is ',
    'Ana ',
    'de ',
    'born on ',
    '12 March ',
    '1985',
    'phone ',
    '+1 212 ',
    '555-0143',
    '4111 1111 ',
  ),
  fc.constantFrom(
    '[EMAIL_1]',
    '[NAME_2',
    '[',
    ']',
    '-----BEGIN ',
    'PRIVATE KEY-----',
    'eyJhbGciOiJIUzI1NiJ9.',
    '@example.org',
  ),
  fc.constantFrom(' ', '\n', '. ', ', ', ': ', '-', '(', 'a', 'é', '字', '😀', '1', '00', 'A', 'X'),
)
const text = fc.oneof(
  fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join('')),
  fc
    .array(fragment, { maxLength: 4 })
    .chain((parts) =>
      fc.nat({ max: parts.join('').length }).map((cut) => parts.join('').slice(0, cut) + parts.join('').slice(cut + 1)),
    ),
)

const run = (stream: TextStream, chunks: readonly string[]): string =>
  chunks.map((chunk) => stream.push(chunk)).join('') + stream.end()

function cutAt(whole: string, cuts: readonly number[]): readonly string[] {
  const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return places.slice(1).map((end, index) => whole.slice(places[index], end))
}

describe('redaction', () => {
  it('gives equal texts equal placeholders, numbered per kind', () => {
    const placeholderMap = createPlaceholderMap()
    assert.equal(
      redact('a@x.org, b@x.org, a@x.org from 10.0.0.1', placeholderMap),
      '[EMAIL_1], [EMAIL_2], [EMAIL_1] from [IP_ADDRESS_1]',
    )
    assert.equal(redact('again b@x.org', placeholderMap), 'again [EMAIL_2]')
  })

  it('is undone by restoration, for any text', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const placeholderMap = createPlaceholderMap()
        assert.equal(restorePlaceholders(redact(whole, placeholderMap), placeholderMap), whole)
      }),
      { numRuns: 3_000 },
    )
  })

  it('of a stream equals redaction of the whole, however it is cut', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 30 }), (whole, cuts) => {
        const chunks = cutAt(whole, cuts)
        assert.equal(run(createRedactionStream(createPlaceholderMap()), chunks), redact(whole, createPlaceholderMap()))
      }),
      { numRuns: 3_000 },
    )
  })

  it('of a stream equals redaction of the whole, one character at a time', () => {
    for (const whole of [...known, known.join(' ')]) {
      assert.equal(
        run(createRedactionStream(createPlaceholderMap()), whole.split('')),
        redact(whole, createPlaceholderMap()),
      )
    }
  })

  it('holds plain prose back no longer than a word', () => {
    const stream = createRedactionStream(createPlaceholderMap())
    assert.equal(stream.push('Nothing to hide in this sen'), 'Nothing to hide in this ')
    assert.equal(stream.push('tence, or '), 'sentence, or ')
  })

  it('never emits a part of an address before its end is known', () => {
    const stream = createRedactionStream(createPlaceholderMap())
    const seen = ['write to jane', '.doe@exam', 'ple.org', ' now'].map((chunk) => stream.push(chunk))
    assert.deepEqual(seen, ['write to ', '', '', '[EMAIL_1] '])
  })
})

describe('restoration', () => {
  it('of a stream equals restoration of the whole, however it is cut', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 30 }), (whole, cuts) => {
        const placeholderMap = createPlaceholderMap()
        const redacted = redact(whole, placeholderMap)
        assert.equal(run(createRestorationStream(placeholderMap), cutAt(redacted, cuts)), whole)
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps placeholders that are not in the map', () => {
    assert.equal(restorePlaceholders('[EMAIL_7] and [OTHER_1]', createPlaceholderMap()), '[EMAIL_7] and [OTHER_1]')
  })
})
