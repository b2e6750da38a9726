/**
 * Misspellings of a few words of a crisis and of insults: two neighbouring letters swapped, a letter left out or doubled, all vowels
 * left out, or the word written backwards. A token that is a word of the vocabulary is not taken for a misspelling.
 */

/** Words of four letters and more, English only: a misspelling of a shorter one is too often another word. */
const crisisWords =
  `about again alive alone anymore better bleed bleeding bridge burden commit cutting dead death depressed deserve disappear
  drown drowning dying ending exist existing goodbye going hang hanging harm harming hate hated herself himself hopeless hurt hurting
  jump kill killed killing life live living miss myself never nobody noose overdose painless pills reason razor self shoot starve
  starving suicidal suicide swallow thinking tired tonight wake wanna want wanted wanting wish without worthless wrist wrists
  yourself`.split(/\s+/)
const insults =
  `asshole bastard bitch coward disgusting dumbass fuck fucker fucking idiot idiotic loser moron pathetic retard retarded
  scumbag stupid ugly useless worthless`.split(/\s+/)

/** Names and words of other languages that look like a misspelling. */
const otherWords = new Set(['buren', 'downing', 'edad', 'exiting', 'hatte', 'lief', 'wante'])

/** Misspellings that are so common that the vocabulary of the training texts has them. */
export const commonMisspellings: ReadonlySet<string> = new Set(['deaht', 'fukc', 'haet', 'killd', 'klil', 'stupd'])

/** Shorter words without vowels are abbreviations, except these. */
const fewestConsonants = 4
const shortWithoutVowels = new Set(['hrm', 'hrt', 'kll', 'slf', 'wnt'])
const fewestForDroppedLetter = 6

const fewestShown = 3

/** The word of which some letters are replaced by stars: `s**c*d*`. A token has no star at its end, so vowels may be missing there. */
export function wordBehindStars(token: string): string | undefined {
  if (token.replaceAll('*', '').length < fewestShown) return undefined
  const isBehind = (word: string): boolean =>
    withoutVowels(word.slice(token.length)) === '' &&
    [...token].every((letter, at) => (letter === '*' && at < word.length) || letter === word.charAt(at))
  return [...crisisWords, ...insults].find(isBehind)
}

const withoutVowels = (word: string): string => word.replace(/[aeiou]/g, '')
const reversed = (word: string): string => [...word].reverse().join('')

/** Every misspelling with the word behind it. One that two words share belongs to neither. */
export function listMisspellings(): ReadonlyMap<string, string> {
  const words = new Map<string, string>()
  const shared = new Set<string>()
  const add = (misspelling: string, word: string): void => {
    const known = words.get(misspelling)
    if (known !== undefined && known !== word) shared.add(misspelling)
    words.set(misspelling, word)
  }
  for (const word of insults) for (const misspelling of wrongLetters(word)) add(misspelling, word)
  for (const word of crisisWords)
    for (const misspelling of [...wrongLetters(word), ...disguises(word)]) add(misspelling, word)
  for (const word of [...crisisWords, ...insults, ...otherWords, ...shared]) words.delete(word)
  return words
}

function* wrongLetters(word: string): Generator<string> {
  for (let at = 0; at < word.length; at++) {
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)]
    yield before + letter + letter + after
    if (after !== '') yield before + after.charAt(0) + letter + after.slice(1)
    if (at > 0 && word.length >= fewestForDroppedLetter) yield before + after
  }
}

function* disguises(word: string): Generator<string> {
  yield reversed(word)
  const consonants = withoutVowels(word)
  if (consonants.length >= fewestConsonants || shortWithoutVowels.has(consonants)) yield consonants
}

/**
 * A phrase of a crisis without its vowels, with each word backwards, and written backwards as a whole. Words whose misspelling is read
 * as the word are written both ways. A phrase of few letters is left as it is, because others may look the same.
 */
export function disguisedPhrases(phrase: string, misspellings: ReadonlyMap<string, string>): readonly string[] {
  const words = phrase.split(' ')
  const backwards = words.map(reversed)
  const forms = [words.map(withoutVowels).filter((word) => word !== ''), backwards, backwards.toReversed()]
  return forms
    .filter((form) => form.length > 1 && form.join('').length >= fewestLetters)
    .flatMap((form) => [form, form.map((word) => misspellings.get(word) ?? word)])
    .map((form) => form.join(' '))
}

const fewestLetters = 5
