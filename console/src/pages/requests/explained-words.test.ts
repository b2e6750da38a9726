import assert from 'node:assert/strict'
import { it } from 'node:test'
import { wordsOfSpan } from './explained-words.ts'
import type { RequestContent } from './queries.ts'

const content = {
  messages: [
    { role: 'user', text: 'Hello' },
    { role: 'user', text: 'What is Project Falcon?' },
  ],
  response: { text: 'about the heron', evidence: [], withheld_from: null },
} as unknown as RequestContent

it('the words of a span are those of its message or of the response', () => {
  assert.equal(wordsOfSpan({ part: 'messages[1]', start: 16, end: 22 }, content), 'Falcon')
  assert.equal(wordsOfSpan({ part: 'response', start: 10, end: 15 }, content), 'heron')
})

it('there are none without texts, without a place, or past the end of a text', () => {
  assert.equal(wordsOfSpan({ part: 'messages[1]', start: 16, end: 22 }, undefined), undefined)
  assert.equal(wordsOfSpan({ part: null, start: null, end: null }, content), undefined)
  assert.equal(wordsOfSpan({ part: 'messages[7]', start: 0, end: 3 }, content), undefined)
  assert.equal(wordsOfSpan({ part: 'messages[0]', start: 80, end: 83 }, content), undefined)
})
