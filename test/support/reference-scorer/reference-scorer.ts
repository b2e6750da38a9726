/**
 * Scores texts as the kernel of the classifier does, but with the trainer's way of reading them. A property test holds the two equal.
 */
import type { PerCategory } from '../../../src/domain/scan/classify/categories.ts'
import { normalise } from '../../../src/domain/scan/normalise/normalise.ts'
import { createFeatureTable } from '../../../src/adapters/classifiers/embedded/feature-table.ts'
import { createLexicon } from '../../../scripts/classifier/reading/lexicon.ts'
import { createMinorsScore } from './minors.ts'
import { heads, type ClassifierHead, type ClassifierModel } from '../../../src/adapters/classifiers/embedded/model.ts'
import { createWordReader } from '../../../scripts/classifier/reading/reader.ts'
import { createFeatureCounts, layOut, type FeatureCounts } from './feature-counts.ts'
import { createWeigh } from './weigh.ts'
import { createHeadScore, createSumRows, gather, windowsOf } from './windows.ts'
import { createVocabulary } from '../../../src/adapters/classifiers/embedded/unmask.ts'

export function createReferenceScorer(model: ClassifierModel): (text: string) => PerCategory<number> {
  const table = createFeatureTable(model.features)
  const lexicon = createLexicon(model.lexicon)
  const vocabulary = createVocabulary(model.vocabulary)
  const factsOf = createWeigh({ table, weights: model.weights, lexicon, vocabulary })
  const readWords = createWordReader({ vocabulary, factsOf })
  const counts = createFeatureCounts({ model, table, lexicon })
  const scoreCounts = createCountsScorer(model)
  return (text) => {
    counts.begin()
    readWords(normalise(text), counts.visit)
    return scoreCounts(counts)
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
