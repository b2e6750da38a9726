import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEncodedStream } from './encoded-detector.ts'

const hidden = 'the gate of the old town was open all day and all night. '.repeat(12)

function streamOf(...chunks: readonly string[]) {
  const stream = createEncodedStream()
  for (const chunk of chunks) stream.push(chunk)
  return stream
}

describe('encoded text in a stream', () => {
  it('is pending from its start until it is evaluated', () => {
    const before = 'It says '
    const encoded = Buffer.from('the gate of a town').toString('base64')
    const stream = streamOf(before, encoded.slice(0, 20), encoded.slice(20), ' and so on. ')
    assert.equal(stream.pendingFrom(0, 0), before.length)
    assert.equal(stream.pendingFrom(200, 0), `${before}${encoded} and so on. `.length)
  })

  it('is pending in a long run of hexadecimal digits, wherever the run begins', () => {
    const encoded = Buffer.from(hidden).toString('hex')
    for (const before of ['', 'a ', 'to ', 'the ']) {
      const text = `${before}${encoded} and so on`
      assert.ok(streamOf(text).pendingFrom(0, 10) < text.length - 100, before)
    }
  })

  it('is not pending in prose, in long names and in hashes', () => {
    for (const text of [
      hidden,
      'call createIncrementalSearchOfPersonalData here ',
      'commit 3f786850e387550fdab836ed7e6dc881de23001b ',
    ])
      assert.equal(streamOf(text).pendingFrom(0, 0), text.length)
  })

  it('is pending around an escape only while a term could still contain the escape', () => {
    const call = 'open("/files?name=old%20gate")'
    assert.equal(streamOf(call, ' and go on').pendingFrom(0, 12), call.indexOf('ld%20'))
    const text = `${call} and go on to the next line `
    assert.equal(streamOf(text).pendingFrom(0, 12), text.length)
    assert.equal(streamOf('it is &#x0000006').pendingFrom(0, 4), 0)
  })

  it('may be reached by a scan that ends shortly after it, and not by one far away', () => {
    const stream = streamOf('see %70 ', ...Array.from({ length: 200 }, () => 'the gate was open. '))
    assert.equal(stream.mayReach(100), true)
    assert.equal(stream.mayReach(3_000), false)
  })
})
