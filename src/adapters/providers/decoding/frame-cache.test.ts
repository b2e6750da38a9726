import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createFrameCache } from './frame-cache.ts'

const frame = (text: string, more: object = {}) => ({
  event: undefined,
  data: JSON.stringify({ id: 'x', choices: [{ delta: { content: text }, finish_reason: null }], ...more }),
})

describe('the frame cache', () => {
  it('returns the text of a frame that otherwise equals the last one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const cache = createFrameCache()
        cache.set(frame('Hello'), { block: 3, text: 'Hello' })
        assert.equal(cache.textOf(frame(text)), text)
        assert.equal(cache.template()?.block, 3)
      }),
    )
  })

  it('returns nothing for a frame with other, more or fewer fields', () => {
    const cache = createFrameCache()
    cache.set(frame('Hello'), { block: 0, text: 'Hello' })
    const { data } = frame('Hello')
    const others = [
      frame('you', { usage: {} }),
      frame('you', { id: 'y' }),
      { event: 'error', data },
      { event: undefined, data: data.slice(0, -1) },
      { event: undefined, data: data.replace('"Hello"', 'null') },
      { event: undefined, data: data.replace('"Hello"', '"Hel"},"more":{"content":"lo"') },
    ]
    for (const other of others) assert.equal(cache.textOf(other), undefined)
  })

  it('caches nothing if the text occurs twice, is escaped, or is not the only content', () => {
    const delta = { block: 0, text: 'x' }
    const escaped = { event: undefined, data: frame('y').data.replace('"y"', '"\\u0078"') }
    for (const other of [frame('x'), escaped, frame('y', { id: 'z' })]) {
      const cache = createFrameCache()
      cache.set(other, delta)
      assert.equal(cache.textOf(other), undefined)
    }
    const cache = createFrameCache()
    cache.set(frame('Hello'), { block: 0, text: 'Hello' })
    cache.set(frame('Hello', { usage: {} }), undefined)
    assert.equal(cache.textOf(frame('Hello')), undefined)
  })

  it('stops caching if every frame has another varying field', () => {
    const cache = createFrameCache()
    const numbered = (at: number) => frame('Hello', { at })
    for (let at = 0; at < 10; at++) {
      assert.equal(cache.textOf(numbered(at)), undefined)
      cache.set(numbered(at), { block: 0, text: 'Hello' })
    }
    assert.equal(cache.textOf(numbered(9)), undefined)
  })
})
