/**
 * Other readings of a text whose words are disguised: run together, cut by tags, written with digits for letters or with each letter
 * twice, or encoded in pieces. Read only for the categories that are always blocked, and only if one of their words is in a reading.
 */
import { normalise } from '../../../domain/scan/normalise/normalise.ts'
import { textsOfPieces } from '../../../domain/scan/normalise/encoded-text.ts'
import {
  blockTag,
  hasDoubledLetters,
  hasTagsInWords,
  longRuns,
  partWithDigitsInWords,
  partWithManyCases,
} from './disguise-signs.ts'
import { segment, unleet, type Vocabulary } from './unmask.ts'

/** Words of a statement about oneself or about minors. A reading without one of them cannot be flagged. */
const decisive =
  /\b(?:kill|suicid|die|dying|dead|death|hang|hurt|harm|cut|pill|overdos|alive|live|living|life|exist|born|gone|myself|goodbye|sleep|wake|end|child|kid|girl|boy|teen|minor|underage|daughter|year)/i

const mostRuns = 32
/** Each letter of a run costs as much as a word of plain text, so few runs are read, and of a long one the beginning. */
const mostRead = 8
const longestRead = 200
const decisiveInRun =
  /kill|suicid|die|dead|death|hang|hurt|harm|pill|overdos|alive|living|nobody|goodbye|wakeup|myself|endit|endmy|mylife|child|girl|boy|teen|underage|yearold/i
const beginOfWord = /(?<=[a-z])(?=[A-Z])|(?=[A-Z][a-z])/
/** A name of two words is no sentence. */
const fewestWords = 4

const comments = /<!--.{0,200}?-->/gs
const tags = /<\/?(?<name>[a-z][a-z\d-]*)[^<>]{0,200}>/gi
const doubledWord = /\b(?:([\p{L}\d'])\1)+\b/giu
/** One class repeated, so that a long run without a sign is read once. */
const tokens = /[\p{L}\d@$!|+']+/gu
const sign = /[\d@$!|+]/

/** The readings of a text: none for nearly all texts. */
export function createReadings(vocabulary: Vocabulary): (text: string) => readonly string[] {
  const isWord = (token: string): boolean => vocabulary.rank(token) >= 0

  /** A capital begins a word. */
  const wordsOfRun = (run: string): readonly string[] =>
    run
      .split(beginOfWord)
      .flatMap((part) => (isWord(part.toLowerCase()) ? part : segment(part.toLowerCase(), vocabulary)))

  const runTogether = (text: string): readonly string[] =>
    longRuns(text, mostRuns)
      .filter((run) => decisiveInRun.test(run) && !isWord(run.toLowerCase()))
      .slice(0, mostRead)
      .map((run) => wordsOfRun(run.slice(0, longestRead)))
      .filter((words) => words.length >= fewestWords)
      .map((words) => words.join(' '))

  const withLetters = (text: string): string =>
    normalise(text).replace(tokens, (token) => (sign.test(token) ? (wordsBehind(token).find(isWord) ?? token) : token))

  return (text) => {
    const digits = partWithDigitsInWords(text)
    const cases = partWithManyCases(text)
    const readings = [
      ...(digits === undefined ? none : [withLetters(digits)]),
      ...(hasTagsInWords(text) ? [withoutTags(text)] : none),
      ...(hasDoubledLetters(text) ? [text.replace(doubledWord, halved)] : none),
      ...(cases === undefined ? none : textsOfPieces(cases)),
      ...runTogether(text),
    ]
    return readings.length === 0 ? none : readings.filter((reading) => reading !== text && decisive.test(reading))
  }
}

const none: readonly string[] = []

const withoutTags = (text: string): string =>
  text.replace(comments, '').replace(tags, (_tag, name: string) => (blockTag.test(name) ? ' ' : ''))

const halved = (word: string): string => word.replace(/(.)\1/gsu, '$1')

/** What digits and signs may stand for. A sign at the end may also be the end of the sentence. */
function wordsBehind(token: string): readonly string[] {
  const bare = token.replace(/!+$/, '')
  return [bare, token].flatMap((one) => ['i', 'l'].map((letter) => unleet(one, letter)))
}
