/** Copies of training rows with the mistakes and disguises of real messages, so that the encoder does not depend on spelling. */
import type { Row } from '../classifier/rows.ts'
import { createSeeded } from '../classifier/seeded.ts'

const seed = 13
/** Only short rows: in a long one a few misspelt words teach nothing. */
const longestCharacters = 400

/** As many harmful as harmless rows, so that a disguise alone decides nothing. Rows in several languages are left out. */
export function disguisedCopies(rows: readonly Row[], count: number): readonly Row[] {
  const chance = createSeeded(seed)
  const disguises = createDisguises(chance)
  const short = rows.filter(({ text, source }) => text.length < longestCharacters && source !== 'mhc')
  const harmful = short.filter(isHarmful)
  const harmless = short.filter((row) => !isHarmful(row))
  return [...pick(harmful, count / 2, chance), ...pick(harmless, count / 2, chance)].map((row) => {
    const disguise = disguises[Math.floor(chance() * disguises.length)] ?? ((text: string) => text)
    return { ...row, text: disguise(row.text), source: 'disguised' }
  })
}

const isHarmful = ({ labels }: Row): boolean => Object.values(labels).includes(1)

function pick(rows: readonly Row[], count: number, chance: () => number): readonly Row[] {
  return Array.from({ length: Math.min(count, rows.length) }, () => rows[Math.floor(chance() * rows.length)]).filter(
    (row) => row !== undefined,
  )
}

type Disguise = (text: string) => string

function createDisguises(chance: () => number): readonly Disguise[] {
  const words =
    (share: number, change: (word: string) => string): Disguise =>
    (text) =>
      text.replace(/\p{L}{4,}/gu, (word) => (chance() < share ? change(word) : word))
  const inside = (word: string): number => 1 + Math.floor(chance() * (word.length - 2))
  return [
    words(0.6, (word) => {
      const at = Math.min(inside(word), word.length - 2)
      return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
    }),
    words(0.6, (word) => word.charAt(0) + word.slice(1).replace(/[aeiou]/gi, '')),
    words(0.5, (word) => {
      const at = inside(word)
      return word.slice(0, at) + word.slice(at + 1)
    }),
    words(0.4, (word) => {
      const at = inside(word)
      return `${word.slice(0, at)}*${word.slice(at + 1)}`
    }),
    words(0.4, (word) => word + word.charAt(word.length - 1).repeat(2)),
    (text) => text.split(/\s+/).join(' \u{1f600} '),
    (text) => text.replace(/[aeiost]/g, (letter) => (chance() < 0.4 ? (leet[letter] ?? letter) : letter)),
    (text) => [...text].join(' '),
    (text) => [...text.replace(/\s+/g, '')].join('.'),
    (text) => text.toUpperCase(),
  ]
}

const leet: Readonly<Record<string, string>> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' }
