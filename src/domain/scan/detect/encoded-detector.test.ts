import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEncodedTextDetector } from './encoded-detector.ts'

const hidden = 'the gate of the old town was open all day and all night. '.repeat(12)

/** A detector for terms of up to this length, after these chunks. */
function detectorOf(longest: number, ...chunks: readonly string[]) {
  const detector = createEncodedTextDetector(longest)
  for (const chunk of chunks) detector.push(chunk)
  return detector
}

describe('encoded text in a stream', () => {
  it('is pending from its start until it is evaluated', () => {
    const before = 'It says '
    const encoded = Buffer.from('the gate of a town').toString('base64')
    const detector = detectorOf(0, before, encoded.slice(0, 20), encoded.slice(20), ' and so on. ')
    assert.equal(detector.settledTo(), before.length)
    detector.onEvaluated(200)
    assert.equal(detector.settledTo(), `${before}${encoded} and so on. `.length)
  })

  it('is pending in a long run of hexadecimal digits, wherever the run begins', () => {
    const encoded = Buffer.from(hidden).toString('hex')
    for (const before of ['', 'a ', 'to ', 'the ']) {
      const text = `${before}${encoded} and so on`
      assert.ok(detectorOf(10, text).settledTo() < text.length - 100, before)
    }
  })

  it('is not pending in prose, in long names and in hashes', () => {
    for (const text of [
      hidden,
      'call createIncrementalSearchOfPersonalData here ',
      'commit 3f786850e387550fdab836ed7e6dc881de23001b ',
    ])
      assert.equal(detectorOf(0, text).settledTo(), text.length)
  })

  it('is pending around an escape only while a term could still contain the escape', () => {
    const call = 'open("/files?name=old%20gate")'
    assert.equal(detectorOf(12, call, ' and go on').settledTo(), call.indexOf('ld%20'))
    const text = `${call} and go on to the next line `
    assert.equal(detectorOf(12, text).settledTo(), text.length)
    assert.equal(detectorOf(4, 'it is &#x0000006').settledTo(), 0)
  })

  it('may be reached by a scan that ends shortly after it, and not by one far away', () => {
    const detector = detectorOf(0, 'see %70 ', ...Array.from({ length: 200 }, () => 'the gate was open. '))
    assert.equal(detector.mayReach(100), true)
    assert.equal(detector.mayReach(3_000), false)
  })
})
