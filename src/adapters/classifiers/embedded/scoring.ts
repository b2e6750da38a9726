/** Turns feature counts into one raw score per category. */
import type { PerCategory } from '../../../domain/moderation/categories.ts'
import { normalise, type Span } from '../../../domain/moderation/normalise.ts'
import { createFeatureTable } from './feature-table.ts'
import { createStreamScoring } from './stream-scoring.ts'
import { createLexicon } from './lexicon.ts'
import { createMinorsScore } from './minors.ts'
import { heads, type ClassifierHead, type ClassifierModel } from './model.ts'
import { createWordReader } from './reader.ts'
import { createFeatureCounts, layOut, type FeatureCounts } from './feature-counts.ts'
import { createWeigh } from './weigh.ts'
import { createHeadScore, createSumRows, gather, windowsOf } from './windows.ts'
import { createWordCache } from './word-cache.ts'
import { hashWord } from './hashing.ts'
import type { Vocabulary } from './unmask.ts'

export type RawScorer = {
  /** Raw scores: any number, comparable only within a category. */
  score(text: string): PerCategory<number>
  /** Starts scoring ranges of a streamed text. Each range gets the score it would get as a text of its own. */
  startStream(): (text: string, range: Span) => PerCategory<number>
}

export function createRawScorer(model: ClassifierModel): RawScorer {
  const table = createFeatureTable(model.features)
  const lexicon = createLexicon(model.lexicon)
  const vocabulary = createVocabulary(model.vocabulary)
  const wordCache = createWordCache(createWeigh({ table, weights: model.weights, lexicon, vocabulary }))
  const readWords = createWordReader({ vocabulary, wordCache })
  const counts = createFeatureCounts({ model, table, lexicon })
  const scoreCounts = createCountsScorer(model)

  const score = (text: string): PerCategory<number> => {
    counts.begin()
    readWords(normalise(text), counts.visit)
    return scoreCounts(counts)
  }
  return {
    score,
    startStream() {
      const visitWords = createStreamScoring({ readWords, age: wordCache.age })
      return (text, range) => {
        counts.begin()
        const isRead = visitWords(text, range, counts.visit)
        return isRead ? scoreCounts(counts) : score(text.slice(range.start, range.end))
      }
    },
  }
}

/** The raw score of a text without words. */
const scoreWithoutWords = -20

type HeadScorer = {
  readonly head: ClassifierHead
  readonly score: ReturnType<typeof createHeadScore>
  /** The first `count` entries belong to the current text. The list is reused for the next text. */
  readonly scores: number[]
  count: number
}

function createCountsScorer({ header }: ClassifierModel): (counts: FeatureCounts) => PerCategory<number> {
  const layout = layOut(header)
  const scorers = heads.map((head, headIndex): HeadScorer => {
    return { head, score: createHeadScore(header.heads[head], headIndex, layout), scores: [], count: 0 }
  })
  const byLength = Map.groupBy(scorers, ({ head }) => header.heads[head].window)
  const groups = Array.from(byLength, ([length, sameLength]) => ({ length, sameLength }))
  const scoreMinors = createMinorsScore(header)
  const sumRows = createSumRows(layout)

  const gathered = (head: ClassifierHead): number => {
    const { scores, count } = scorers[heads.indexOf(head)] ?? { scores: [], count: 0 }
    return count === 0 ? scoreWithoutWords : gather(scores, count)
  }

  return (counts) => {
    const buckets = counts.buckets()
    let minors = scoreWithoutWords
    for (const scorer of scorers) scorer.count = 0
    for (const { length, sameLength } of groups) {
      for (const window of windowsOf(buckets, length)) {
        const sums = sumRows(counts, window)
        for (const scorer of sameLength) {
          const scored = scorer.score(sums)
          scorer.scores[scorer.count++] = scored
          if (scorer.head !== 'sexual') continue
          minors = Math.max(minors, scoreMinors(counts, { window, buckets, sum: sums.sum, sexual: scored }))
        }
      }
    }
    return {
      'self-harm': gathered('self-harm'),
      'sexual/minors': Math.max(minors, gathered('abuse') - header.minors.abuse),
      harassment: gathered('harassment'),
      hate: gathered('hate'),
      illicit: gathered('illicit'),
      sexual: gathered('sexual'),
    }
  }
}

/** The vocabulary of a model, built from word hashes in the order of frequency. */
export function createVocabulary(hashes: Uint32Array): Vocabulary {
  const table = createFeatureTable(hashes)
  return { rank: (word) => table.indexOf(hashWord(word)), size: hashes.length }
}
