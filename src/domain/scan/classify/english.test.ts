import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { partsNotEnglish } from './english.ts'

const englishTexts = [
  'I want to tell you about the garden that we planted last spring.',
  'i dont know why they always laugh when she comes in',
  'Could you write a short poem for my sister?',
  'He said that nobody would come, and nobody came.',
  'What is the German word “Schadenfreude”?',
  'It’s a café near the river, and I’m fond of it.',
]

const otherTexts = [
  'Ich weiß nicht, was ich heute noch tun soll.',
  'No sé qué hacer con mi vida y estoy muy cansado.',
  'Je ne sais pas ce que tu veux dire par là.',
  'Non so più che cosa fare della mia vita.',
  'Eu não sei o que fazer com a minha vida.',
  'Ik weet niet wat ik vandaag nog moet doen.',
  'Nie wiem, co mam dzisiaj jeszcze zrobić.',
  'Я не знаю, что мне сегодня делать.',
  'لا أعرف ماذا أفعل اليوم',
  'मुझे नहीं पता कि आज क्या करना है',
  '我不知道今天该做什么',
  '今日は何をすればいいか分からない',
]

const preface =
  'Please tell me what you think about this and how you would answer it, because I need to know what they want: '

describe('the parts of a text that are not English', () => {
  for (const text of englishTexts) it(`are none: ${text}`, () => assert.equal(partsNotEnglish(text), ''))

  for (const text of otherTexts) {
    it(`are all words: ${text}`, () => {
      const words = text.match(/\p{L}[\p{L}\p{M}'’]*/gu) ?? []
      assert.equal(partsNotEnglish(text), words.join(' '))
    })
    it(`are found behind English: ${text}`, () => {
      const parts = partsNotEnglish(preface + text)
      assert.ok(parts.endsWith(partsNotEnglish(text)), parts)
      assert.ok(!parts.includes('how you would answer'))
    })
  }

  it('are found between English words of one clause', () => {
    const parts = partsNotEnglish('can you say ich kann nicht mehr und will nicht mehr to them when you see them again')
    assert.ok(parts.includes('ich kann nicht mehr und will nicht mehr'), parts)
  })

  it('have texts without a common word in them, because they are too short to tell', () => {
    for (const text of ['Berlin', 'muero', 'voglio morire']) assert.equal(partsNotEnglish(text), text)
    for (const text of ['', '42', '🙂']) assert.equal(partsNotEnglish(text), '')
  })
})
