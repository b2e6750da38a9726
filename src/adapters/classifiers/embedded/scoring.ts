/** From a tally to one raw score per category. */
import type { PerCategory } from '../../../domain/moderation/categories.ts'
import { normalise } from '../../../domain/moderation/normalise.ts'
import { createMinorsScore } from './minors.ts'
import { heads } from './model.ts'
import type { Head, Model } from './model.ts'
import { createTally, layOut } from './tally.ts'
import type { Tally } from './tally.ts'
import { createHeadScore, gather, sumRows, windowsOf } from './windows.ts'

export type RawScorer = {
  /** Raw scores: any number, comparable only within a category. */
  score(text: string): PerCategory<number>
}

export function createRawScorer(model: Model): RawScorer {
  const tally = createTally(model)
  const scoreBuckets = createBucketScorer(model)
  return { score: (text) => scoreBuckets(tally, tally.read(normalise(text))) }
}

/** The raw score of a text in which there is nothing to read. */
const silent = -20

function createBucketScorer({ header }: Model): (tally: Tally, buckets: number) => PerCategory<number> {
  const layout = layOut(header)
  const scorers = heads.map((head, place) => ({
    head,
    window: header.heads[head].window,
    score: createHeadScore(header.heads[head], place, layout),
  }))
  const lengths = [...new Set(scorers.map(({ window }) => window))]
  const scoreMinors = createMinorsScore(header)
  const sum = new Float64Array(layout.length)

  return (tally, buckets) => {
    const scores: Record<Head, number[]> = {
      sexual: [],
      hate: [],
      harassment: [],
      'self-harm': [],
      illicit: [],
      abuse: [],
    }
    let minors = silent
    for (const length of lengths) {
      for (const window of windowsOf(buckets, length)) {
        sumRows(tally, window, sum)
        for (const { head, window: ownLength, score } of scorers) {
          if (ownLength !== length) continue
          const scored = score(sum)
          scores[head].push(scored)
          if (head === 'sexual') minors = Math.max(minors, scoreMinors(tally, { window, buckets, sum, sexual: scored }))
        }
      }
    }
    const gathered = (head: Head): number => (scores[head].length === 0 ? silent : gather(scores[head]))
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
