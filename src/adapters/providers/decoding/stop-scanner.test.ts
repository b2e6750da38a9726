import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createStopScanner } from './stop-scanner.ts'

const scan = (stops: readonly string[], chunks: readonly string[]): { text: string; stop: string | undefined } => {
  const scanner = createStopScanner(stops)
  let text = ''
  for (const chunk of chunks) {
    const scanned = scanner.push(chunk)
    text += scanned.text
    if (scanned.stop !== undefined) return { text, stop: scanned.stop }
  }
  return { text: text + scanner.flush(), stop: undefined }
}

describe('the stop scanner', () => {
  it('finds the first stop string, wherever the text is split', () => {
    assert.deepEqual(scan(['END', 'STOP'], ['a ST', 'OP b END']), { text: 'a ', stop: 'STOP' })
    assert.deepEqual(scan(['\n\n'], ['one\n', '\ntwo']), { text: 'one', stop: '\n\n' })
  })

  it('returns all text if there is none, and ignores an empty stop string', () => {
    assert.deepEqual(scan(['END'], ['a EN', 'D']), { text: 'a ', stop: 'END' })
    assert.deepEqual(scan(['END', ''], ['a EN', 'd']), { text: 'a ENd', stop: undefined })
  })

  it('finds the same as a search in the whole text', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 })
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), {
      maxLength: 3,
    })
    const property = fc.property(fc.array(letters, { maxLength: 6 }), stops, (chunks, sought) => {
      const whole = chunks.join('')
      const at = Math.min(...sought.map((stop) => whole.indexOf(stop)).filter((found) => found !== -1))
      const { text, stop } = scan(sought, chunks)
      // A longer stop string that starts earlier may be completed later. Either result is valid.
      if (stop === undefined) assert.deepEqual([text, at], [whole, Infinity])
      else assert.ok(whole.startsWith(text + stop))
    })
    fc.assert(property, { numRuns: 500 })
  })
})
