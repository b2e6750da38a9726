import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWaitingTexts, type WaitingText } from './waiting-texts.ts'

const textOf = (text: string, organizationId: string, isUrgent = false): WaitingText => ({
  text,
  question: { organizationId, isUrgent },
})

function taken(waiting: ReturnType<typeof createWaitingTexts>): string[] {
  const texts: string[] = []
  for (let next = waiting.take(); next; next = waiting.take()) texts.push(next.text)
  return texts
}

describe('texts that wait for the encoder', () => {
  it('are read in the order of their arrival, urgent ones first, organizations in turn', () => {
    const waiting = createWaitingTexts(100)
    for (const text of ['a1', 'a2', 'a3']) waiting.add(textOf(text, 'a'))
    waiting.add(textOf('b1', 'b'))
    waiting.add(textOf('a!', 'a', true))
    waiting.add(textOf('b!', 'b', true))
    waiting.add(textOf('c1', 'c'))
    assert.equal(waiting.size(), 7)
    assert.deepEqual(taken(waiting), ['a!', 'b!', 'a1', 'b1', 'c1', 'a2', 'a3'])
    assert.equal(waiting.size(), 0)
  })

  it('are bounded, but an organization that does not wait and an urgent text still have a place', () => {
    const waiting = createWaitingTexts(10)
    assert.equal(waiting.add(textOf('123456', 'a')), true)
    assert.equal(waiting.add(textOf('12345', 'a')), false)
    assert.equal(waiting.add(textOf('1234567', 'b')), true)
    assert.equal(waiting.add(textOf('1', 'b')), false)
    assert.equal(waiting.add(textOf('12345678', 'c')), false)
    assert.equal(waiting.add(textOf('12345', 'a', true)), true)
    assert.deepEqual(taken(waiting), ['12345', '123456', '1234567'])
    assert.equal(waiting.add(textOf('1234567890', 'a')), true)
  })

  it('can leave', () => {
    const waiting = createWaitingTexts(10)
    const left = textOf('1234567', 'a')
    waiting.add(left)
    assert.equal(waiting.remove(left), true)
    assert.equal(waiting.remove(left), false)
    assert.equal(waiting.add(textOf('1234567890', 'a')), true)
    assert.deepEqual(
      waiting.clear().map(({ text }) => text),
      ['1234567890'],
    )
    assert.deepEqual([waiting.size(), waiting.take()], [0, undefined])
  })
})
