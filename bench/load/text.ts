import { createSeeded } from '../../scripts/classifier/seeded.ts'
import { adjectives, adverbs, joins, names, nouns, verbs } from './vocabulary.ts'

/** Writes ordinary text that it has not written before. Only letters, digits, spaces, commas and full stops, so JSON needs no escapes. */
export type TextWriter = (characters: number) => string

const phraseCount = 4096

/**
 * Phrases of four to eight words are made once, and a text joins some of them: a text costs about a microsecond, and its order
 * of phrases does not come twice. Equal seeds write equal texts.
 */
export function createTextWriter(seed: number): TextWriter {
  const chance = createSeeded(seed)
  /** A whole number below the limit. */
  const random: Random = (limit) => Math.floor(chance() * limit)
  const phrases = Array.from({ length: phraseCount }, () => phrase(random))
  return (characters) => {
    let text = ''
    while (text.length < characters) text += phrases[random(phraseCount)]
    return text.slice(0, characters)
  }
}

type Random = (limit: number) => number

function phrase(random: Random): string {
  const one = (words: readonly string[]): string => words[random(words.length)] ?? ''
  const subject = random(4) === 0 ? one(names) : `the ${one(adjectives)} ${one(nouns)}`
  const object = random(6) === 0 ? `${2 + random(90)} ${one(nouns)}s` : `a ${one(nouns)}`
  const words = `${subject} ${one(verbs)} ${object}`
  const full = random(3) === 0 ? `${words} ${one(adverbs)}` : words
  return random(2) === 0 ? `${full} ${one(joins)} ` : `${full}. `
}
