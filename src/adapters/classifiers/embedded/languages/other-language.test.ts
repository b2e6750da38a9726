import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sentencesInOtherLanguages } from './other-language.ts'

it('finds no sentence in English prose and code', () => {
  const prose =
    'We met at the cafe near the station. She said that nothing had changed; I did not believe it!\nWhy should I?'
  const code =
    'const total = rows.map((row) => row.value).reduce((sum, value) => sum + value, 0)\nif (total > 3.5) return null'
  assert.deepEqual(sentencesInOtherLanguages(prose), [])
  assert.deepEqual(sentencesInOtherLanguages(code), [])
})

it('leaves scripts out that the model has not learnt', () => {
  assert.deepEqual(sentencesInOtherLanguages('오늘 날씨가 참 좋네요. Καλημέρα σε όλους. שלום לכולם.'), [])
})

it('finds a sentence in another language between others', () => {
  const text = 'Please read this first. Ich weiß nicht mehr weiter! Then send the form to the office.'
  assert.deepEqual(sentencesInOtherLanguages(text), [' Ich weiß nicht mehr weiter!'])
})

it('finds text without spaces and without accents', () => {
  assert.equal(sentencesInOtherLanguages('今日はいい天気ですね。').length, 1)
  assert.equal(sentencesInOtherLanguages('mujhe kya karna hai aur kab').length, 1)
})

it('reads a short sentence with the next', () => {
  assert.deepEqual(sentencesInOtherLanguages('Ja. Ich komme mit dir.'), ['Ja. Ich komme mit dir.'])
})

it('finds a sentence whose words have invisible characters in them, or letters in another form', () => {
  const plain = 'ich will nicht mehr leben.'
  const words = plain.split(' ')
  for (const hidden of ['\u200b', '\u00ad', '\u2060'])
    assert.deepEqual(sentencesInOtherLanguages(words.map((word) => word[0] + hidden + word.slice(1)).join(' ')), [
      plain,
    ])
  const wide = plain.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
  assert.deepEqual(sentencesInOtherLanguages(wide), [plain])
  assert.deepEqual(sentencesInOtherLanguages('Je suis désolé.'.normalize('NFD')), ['Je suis désolé.'])
})

it('finds a statement in a long text without punctuation, and leaves out what is far from it', () => {
  const english = Array.from({ length: 400 }, (_, at) => ['one', 'two', 'three', 'four'][at % 4]).join(' ')
  const [found, ...others] = sentencesInOtherLanguages(`${english} ich will nicht mehr leben ${english}`)
  assert.deepEqual(others, [])
  assert.match(found ?? '', /ich will nicht mehr leben/)
  assert.ok((found ?? '').length < english.length / 2)
})

it('takes time in proportion to the text, whatever it is', () => {
  for (const piece of ['a', 'é', '.', '死', 'ich '])
    assert.ok(sentencesInOtherLanguages(piece.repeat(100_000)).length < 100_001)
})
