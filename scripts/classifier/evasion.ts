/** Obfuscations that people can still read and simple filters cannot. */
import { createSeeded } from './seeded.ts'

export type Disguise = { readonly name: string; apply(text: string): string }

const seed = 11

/** Replaces each character that has a stand-in, with the given chance. */
function replacing(standIns: Readonly<Record<string, string>>, share: number): (text: string) => string {
  return (text) => {
    const chance = createSeeded(seed)
    return text.replace(/./gsu, (character) =>
      chance() < share ? (standIns[character.toLowerCase()] ?? character) : character,
    )
  }
}

const cyrillic = { a: 'а', c: 'с', e: 'е', i: 'і', j: 'ј', o: 'о', p: 'р', s: 'ѕ', x: 'х', y: 'у' }
const leet = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' }
const signs = { a: '@', i: '!', s: '$' }

const everyLetter = (change: (letter: string) => string) => (text: string) => text.replace(/[A-Za-z]/g, change)
const everyWord = (change: (word: string) => string) => (text: string) => text.replace(/[A-Za-z]{2,}/g, change)

const swapMiddle = (word: string): string => {
  const at = (word.length - 1) >> 1
  return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
}

const reverse = (text: string): string => [...text].reverse().join('')

export const disguises: readonly Disguise[] = [
  { name: 'none', apply: (text) => text },
  { name: 'upper case', apply: (text) => text.toUpperCase() },
  { name: 'zero-width characters', apply: everyLetter((letter) => `${letter}\u200b`) },
  { name: 'Cyrillic lookalikes, half the letters', apply: replacing(cyrillic, 0.5) },
  { name: 'Cyrillic lookalikes, all there are', apply: replacing(cyrillic, 1) },
  { name: 'combining marks', apply: everyLetter((letter) => `${letter}\u0336`) },
  { name: 'full-width letters', apply: everyLetter((letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)) },
  { name: 'leetspeak, 60 % of the letters', apply: replacing(leet, 0.6) },
  { name: 'signs for letters', apply: replacing(signs, 1) },
  { name: 'stretched letters', apply: everyWord((word) => word.replace(/[aeiou]/i, (vowel) => vowel.repeat(4))) },
  { name: 's.p.l.i.t with dots', apply: everyWord((word) => [...word].join('.')) },
  {
    name: 's p a c e d, words two spaces apart',
    apply: (text) =>
      text
        .split(/\s+/)
        .map((word) => [...word].join(' '))
        .join('  '),
  },
  { name: 's p a c e d throughout', apply: (text) => [...text.replace(/\s+/g, '')].join(' ') },
  {
    name: 'two letters swapped in words of four and more',
    apply: (text) => text.replace(/[A-Za-z]{4,}/g, swapMiddle),
  },
  { name: 'vowels left out', apply: (text) => text.replace(/[aeiou]/gi, '') },
  { name: 'words reversed', apply: everyWord(reverse) },
  { name: 'text reversed', apply: reverse },
  { name: 'base64', apply: (text) => Buffer.from(text).toString('base64') },
  { name: 'hexadecimal', apply: (text) => Buffer.from(text).toString('hex') },
  { name: 'percent escapes', apply: (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&') },
  { name: 'HTML entities', apply: (text) => text.replace(/[A-Za-z]/g, (letter) => `&#${letter.charCodeAt(0)};`) },
]
