/** How much of a streamed text may be sent, by how close it is to being denied. */
import type { Category } from '../../scan/classify/categories.ts'
import { holdBackBoundOf, type Classification, type HoldBackBounds } from '../../scan/classify/classifier.ts'

export type Clearance = {
  /**
   * How many characters from the start may be sent of a text that is classified up to a position. Less than that near a
   * threshold, and none of an opening that is not complete.
   */
  limitOf(text: string, to: number, classification: Classification): number
  /** Ends the opening, although it has only a few words. */
  endOpening(): void
}

export function createClearance(bounds: HoldBackBounds, blocking: readonly Category[]): Clearance {
  const riskOf = createRisk(bounds, blocking)
  let isOpened = bounds.openingWords === 0
  return {
    limitOf(text, to, classification) {
      const risk = riskOf(classification)
      isOpened ||= isOpeningComplete(text.slice(0, to), bounds.openingWords)
      if (risk === 'hold' || !isOpened) return 0
      return risk === 'clear' ? to : Math.min(to, text.length - bounds.keptBackCharacters)
    },
    endOpening: () => void (isOpened = true),
  }
}

/** `clear`: nothing is held back. `elevated`: a few words are. `hold`: everything is. */
type Risk = 'clear' | 'elevated' | 'hold'

function createRisk(bounds: HoldBackBounds, blocking: readonly Category[]): (classification: Classification) => Risk {
  const scoreBoundsOf = (stage?: 'encoder') =>
    blocking.map((category) => {
      const { elevatedFrom, holdFrom } = holdBackBoundOf(bounds, category, stage)
      return { category, elevatedFrom: scoreOf(elevatedFrom), holdFrom: scoreOf(holdFrom) }
    })
  const ofFirstStage = scoreBoundsOf()
  const ofBothStages = bounds.bothStages === undefined ? ofFirstStage : scoreBoundsOf('encoder')
  return ({ scores, stage }) => {
    let risk: Risk = 'clear'
    for (const { category, elevatedFrom, holdFrom } of stage === 'encoder' ? ofBothStages : ofFirstStage) {
      const score = scores[category]
      if (score >= holdFrom) return 'hold'
      if (score >= elevatedFrom) risk = 'elevated'
    }
    return risk
  }
}

const scoreOf = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds))

/** A text without spaces has no words to count. */
const charactersPerWord = 8

/** True if the text has this many complete words. */
const isOpeningComplete = (text: string, words: number): boolean =>
  text.length >= words * charactersPerWord || (text.match(/\S+\s/g)?.length ?? 0) >= words
