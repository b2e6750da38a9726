import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isEnglish } from './english.ts'

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

describe('the language of a text', () => {
  for (const text of englishTexts) it(`is English: ${text}`, () => assert.equal(isEnglish(text), true))

  for (const text of otherTexts) it(`is not English: ${text}`, () => assert.equal(isEnglish(text), false))

  it('counts as not English if the text is too short to tell', () => {
    for (const text of ['', '42', 'Berlin', 'ja', 'muero', 'to do', '🙂', 'x = y + 1'])
      assert.equal(isEnglish(text), false, text)
  })

  it('counts as not English if a sentence of another language is beside an English one of the same length', () => {
    assert.equal(isEnglish('Please tell me what this means: ich will nicht mehr und ich kann nicht mehr'), false)
    assert.equal(isEnglish('Please tell me what this means: 我不知道 今天 该 做什么'), false)
  })

  it('is decided by the words, so that code is English only with English comments', () => {
    assert.equal(isEnglish('const total = items.reduce((sum, item) => sum + item.price, 0)'), false)
    assert.equal(isEnglish('// This is the price that you should show to them.\nconst total = sum(items)'), true)
  })
})
