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
        const memory = createFrameCache()
        memory.set(frame('Hello'), { block: 3, text: 'Hello' })
        assert.deepEqual(memory.get(frame(text)), { block: 3, text })
      }),
    )
  })

  it('returns nothing for a frame with other, more or fewer fields', () => {
    const memory = createFrameCache()
    memory.set(frame('Hello'), { block: 0, text: 'Hello' })
    const { data } = frame('Hello')
    const others = [
      frame('you', { usage: {} }),
      frame('you', { id: 'y' }),
      { event: 'error', data },
      { event: undefined, data: data.slice(0, -1) },
      { event: undefined, data: data.replace('"Hello"', 'null') },
      { event: undefined, data: data.replace('"Hello"', '"Hel"},"more":{"content":"lo"') },
    ]
    for (const other of others) assert.equal(memory.get(other), undefined)
  })

  it('caches nothing if the text occurs twice, is escaped, or is not the only content', () => {
    const said = { block: 0, text: 'x' }
    const escaped = { event: undefined, data: frame('y').data.replace('"y"', '"\\u0078"') }
    for (const told of [frame('x'), escaped, frame('y', { id: 'z' })]) {
      const memory = createFrameCache()
      memory.set(told, said)
      assert.equal(memory.get(told), undefined)
    }
    const memory = createFrameCache()
    memory.set(frame('Hello'), { block: 0, text: 'Hello' })
    memory.set(frame('Hello', { usage: {} }), undefined)
    assert.equal(memory.get(frame('Hello')), undefined)
  })

  it('stops caching if every frame has another varying field', () => {
    const memory = createFrameCache()
    const numbered = (at: number) => frame('Hello', { at })
    for (let at = 0; at < 10; at++) {
      assert.equal(memory.get(numbered(at)), undefined)
      memory.set(numbered(at), { block: 0, text: 'Hello' })
    }
    assert.equal(memory.get(numbered(9)), undefined)
  })
})
