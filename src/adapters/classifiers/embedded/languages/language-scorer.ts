/** Scores statements in languages other than English, for the categories that are always blocked. */
import type { AlwaysBlockedCategory } from '../../../../domain/scan/classify/categories.ts'
import { flagThreshold } from '../../../../domain/scan/classify/classifier.ts'
import { partsNotEnglish } from '../../../../domain/scan/classify/english.ts'
import { normalise } from '../../../../domain/scan/normalise/normalise.ts'
import { featuresOf, piecesOf, visitFeatures, type TokenFeatures } from './features.ts'
import { isSeen, languageHeads, type LanguageHead, type LanguageModel } from './language-model.ts'
import { sentencesInOtherLanguages } from './other-language.ts'

export type LanguageScores = Readonly<Record<AlwaysBlockedCategory, number>>

/** Undefined if no sentence of a text, and no two neighbours, reach a threshold. */
export type LanguageScorer = (text: string) => LanguageScores | undefined

export function createLanguageScorer(model: LanguageModel): LanguageScorer {
  const readSentence = createSentenceReader(model)

  function scoreOf(sums: Sums): LanguageScores {
    const score = (head: LanguageHead): number => {
      const { bias, scale, slope, threshold } = model.heads[head]
      return 1 / (1 + Math.exp(-slope * (bias + scale * perFeature(sums, head) - threshold)))
    }
    return { 'self-harm': score('self-harm'), 'sexual/minors': Math.min(score('minors'), score('sexual')) }
  }

  return (text) => {
    const found = { 'self-harm': 0, 'sexual/minors': 0 }
    let before: Piece | undefined
    for (const piece of sentencesInOtherLanguages(text).flatMap(readSentence)) {
      for (const one of before === undefined ? [piece] : [piece, joined(before, piece)]) {
        const scores = scoreOf(one.sums)
        if (Math.max(scores['self-harm'], scores['sexual/minors']) < flagThreshold) continue
        if (!isKnown(one.sums) || one.sentence.isEnglish()) continue
        found['self-harm'] = Math.max(found['self-harm'], scores['self-harm'])
        found['sexual/minors'] = Math.max(found['sexual/minors'], scores['sexual/minors'])
      }
      before = piece
    }
    return Math.max(found['self-harm'], found['sexual/minors']) < flagThreshold ? undefined : found
  }
}

/** Weights of the features of a piece, added up per head, and how many features there are of both kinds. */
type Sums = {
  readonly words: Float64Array
  readonly grams: Float64Array
  readonly wordCount: number
  readonly gramCount: number
  /** Tokens, and those that the model has seen. A letter of a script without spaces is half a word. */
  readonly tokens: number
  readonly seen: number
}

/** Names, codes and other languages are features by chance. Nothing is said of a text that has fewer words of its languages. */
const fewestSeen = 2
const leastSeen = 0.6
const isKnown = ({ tokens, seen }: Sums): boolean => seen >= fewestSeen && seen >= tokens * leastSeen

/** A sentence as it was written, because accents tell languages apart. All pieces of a long one share the answer. */
type Sentence = { readonly text: string; readonly isEnglish: () => boolean }

function sentenceOf(text: string): Sentence {
  let isEnglish: boolean | undefined
  return { text, isEnglish: () => (isEnglish ??= partsNotEnglish(text) === '') }
}

/** A sentence, or a piece of a long one. */
type Piece = { readonly sentence: Sentence; readonly sums: Sums }

/** The same share as in training: a feature counts less in a longer text. */
export const rootOf = (features: number): number => Math.sqrt(Math.max(1, features))

function perFeature({ words, grams, wordCount, gramCount }: Sums, head: LanguageHead): number {
  const at = languageHeads.indexOf(head)
  return (words[at] ?? 0) / rootOf(wordCount) + (grams[at] ?? 0) / rootOf(gramCount)
}

const joined = (first: Piece, second: Piece): Piece => ({
  sentence:
    first.sentence === second.sentence ? first.sentence : sentenceOf(`${first.sentence.text} ${second.sentence.text}`),
  sums: {
    words: first.sums.words.map((sum, at) => sum + (second.sums.words[at] ?? 0)),
    grams: first.sums.grams.map((sum, at) => sum + (second.sums.grams[at] ?? 0)),
    wordCount: first.sums.wordCount + second.sums.wordCount,
    gramCount: first.sums.gramCount + second.sums.gramCount,
    tokens: first.sums.tokens + second.sums.tokens,
    seen: first.sums.seen + second.sums.seen,
  },
})

type KnownToken = TokenFeatures & { readonly gramSums: Float64Array; readonly isSeen: boolean }

/** Words repeat, and most of the work is in their parts. Long ones are not kept, because callers choose them. */
const mostKnownTokens = 5_000
const longestKnownToken = 24

function createSentenceReader(model: LanguageModel): (sentence: string) => readonly Piece[] {
  const { weights } = model
  let known = new Map<string, KnownToken>()
  const addTo = (sums: Float64Array, slot: number): void => {
    const first = slot * languageHeads.length
    for (let head = 0; head < languageHeads.length; head++)
      sums[head] = (sums[head] ?? 0) + (weights[first + head] ?? 0)
  }
  function read(token: string): KnownToken {
    const existing = known.get(token)
    if (existing !== undefined) return existing
    const features = featuresOf(token)
    const gramSums = new Float64Array(languageHeads.length)
    for (const slot of features.grams) addTo(gramSums, slot)
    const created = { ...features, gramSums, isSeen: isSeen(model, features.hash) }
    if (known.size >= mostKnownTokens) known = new Map()
    if (token.length <= longestKnownToken) known.set(token, created)
    return created
  }
  function sumsOf(piece: readonly string[]): Sums {
    const words = new Float64Array(languageHeads.length)
    const grams = new Float64Array(languageHeads.length)
    let wordCount = 0
    let gramCount = 0
    let tokens = 0
    let seen = 0
    visitFeatures(piece, read, {
      word(slot) {
        wordCount += 1
        addTo(words, slot)
      },
      letters(slot) {
        gramCount += 1
        addTo(grams, slot)
      },
      token(features) {
        const share = features.isLetter ? 0.5 : 1
        tokens += share
        if (features.isSeen) seen += share
        gramCount += features.grams.length
        for (const [head, sum] of features.gramSums.entries()) grams[head] = (grams[head] ?? 0) + sum
      },
    })
    return { words, grams, wordCount, gramCount, tokens, seen }
  }
  return (text) => {
    const sentence = sentenceOf(text)
    return piecesOf(normalise(text)).map((piece) => ({ sentence, sums: sumsOf(piece) }))
  }
}
