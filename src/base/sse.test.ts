import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createSseReader } from './sse.ts'
import type { SseFrame } from './sse.ts'

const read = (...chunks: readonly (string | Uint8Array)[]): SseFrame[] => {
  const reader = createSseReader()
  return [...chunks.flatMap((chunk) => reader.push(Buffer.from(chunk))), ...reader.end()]
}

describe('the parser of server-sent events', () => {
  it('reads name and data of each frame', () => {
    assert.deepEqual(read('event: a\ndata: {"x":1}\n\ndata: two\n\n'), [
      { event: 'a', data: '{"x":1}' },
      { event: undefined, data: 'two' },
    ])
  })

  it('returns all frames of one read together', () => {
    assert.equal(createSseReader().push(Buffer.from('data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4')).length, 3)
  })

  it('skips comments, unknown fields and frames without data', () => {
    assert.deepEqual(read(': keep-alive\n\nid: 7\nretry: 10\n\nevent: ping\n\ndatum: no\ndata:yes\n\n'), [
      { event: undefined, data: 'yes' },
    ])
  })

  it('joins several data lines with line feeds and removes only one space', () => {
    assert.deepEqual(read('data:  a\ndata\ndata:b\n\n'), [{ event: undefined, data: ' a\n\nb' }])
  })

  it('returns a last frame that lacks its blank line', () => {
    assert.deepEqual(read('data: [DONE]'), [{ event: undefined, data: '[DONE]' }])
    assert.deepEqual(read('data: [DONE]\n'), [{ event: undefined, data: '[DONE]' }])
  })

  it('removes a byte order mark only at the start', () => {
    assert.deepEqual(read('\uFEFFdata: \uFEFFx\n\n'), [{ event: undefined, data: '\uFEFFx' }])
  })

  it('rejects a frame over the limit, in one line, in many lines, and in a line that has not ended yet', () => {
    const limited = () => createSseReader(1_000)
    assert.throws(() => limited().push(Buffer.from(`data: ${'x'.repeat(1_001)}\n`)), RangeError)
    assert.throws(() => limited().push(Buffer.from('data: xxxxxxxxxx\n'.repeat(100))), RangeError)
    const reader = limited()
    reader.push(Buffer.alloc(900, 'x'))
    assert.throws(() => reader.push(Buffer.alloc(900, 'x')), RangeError)
  })
})

describe('bytes split anywhere', () => {
  const stream = '\uFEFFevent: ä\r\ndata: 😀 {"é":"日本"}\r\n\r\n: c\r\rdata: a\ndata: b\r\n\ndata: last\r\r'
  const bytes = Buffer.from(stream)
  const whole = read(stream)

  it('give the same frames at every split', () => {
    assert.equal(whole.length, 3)
    for (let at = 0; at <= bytes.length; at++) {
      assert.deepEqual(read(bytes.subarray(0, at), bytes.subarray(at)), whole, `cut at ${at}`)
    }
  })

  it('give the same frames byte by byte', () => {
    assert.deepEqual(read(...Array.from(bytes, (byte) => Uint8Array.of(byte))), whole)
  })

  it('give the same frames however they are split', () => {
    const line = fc.stringMatching(/^[^\r\n]{0,20}$/)
    const frames = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 })
    const property = fc.property(
      frames,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.infiniteStream(fc.nat(9)),
      (all, end, sizes) => {
        const text = all.map((lines) => lines.map((each) => `data: ${each}${end}`).join('') + end).join('')
        const cut: Uint8Array[] = []
        for (let rest = Buffer.from(text); rest.length > 0;) {
          const size = (sizes.next().value ?? 0) + 1
          cut.push(rest.subarray(0, size))
          rest = rest.subarray(size)
        }
        const wanted = all.map((lines) => lines.join('\n')).filter((data) => data !== '')
        assert.deepEqual(
          read(...cut).map((frame) => frame.data),
          wanted,
        )
      },
    )
    fc.assert(property, { numRuns: 200 })
  })
})
