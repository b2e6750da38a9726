import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isReadableScript } from './readable-script.ts'

test('the encoder reads texts in the Latin script, also with accents, emoji and some foreign words', () => {
  for (const text of [
    'Hello there.',
    'Ich möchte nicht mehr, größer',
    'Être là, naïve',
    'zażółć gęślą jaźń',
    'hi 🙂🙂🙂',
    'the word 自殺 means this',
  ])
    assert.equal(isReadableScript(text), true, text)
})

test('the encoder does not read other scripts, nor texts without letters', () => {
  for (const text of [
    '안녕하세요 여러분',
    'สวัสดีครับ',
    'שלום לכולם',
    'Привет всем',
    '我想知道',
    'مرحبا بكم',
    '12 + 30 = 42',
    '🙂',
    'ok 我想知道怎么才能做这件事情谢谢你',
  ])
    assert.equal(isReadableScript(text), false, text)
})
