/** How close a streamed text is to being denied, by its classification. */
import { perCategory, type Category } from '../classify/categories.ts'
import { holdBackBoundOf, type Classification, type Classifier, type HoldBackBounds } from '../classify/classifier.ts'

/** `clear`: nothing is held back. `elevated`: a few words are. `hold`: everything is. */
export type HoldBackRisk = 'clear' | 'elevated' | 'hold'

export type RiskOf = (classification: Classification) => HoldBackRisk

/** The risk by the scores of these categories. */
export function createRiskOf(bounds: HoldBackBounds, blocking: readonly Category[]): RiskOf {
  const scoreBoundsOf = (stage?: 'encoder') =>
    blocking.map((category) => {
      const { elevatedFrom, holdFrom } = holdBackBoundOf(bounds, category, stage)
      return { category, elevatedFrom: scoreOf(elevatedFrom), holdFrom: scoreOf(holdFrom) }
    })
  const ofFirstStage = scoreBoundsOf()
  const ofBothStages = bounds.bothStages === undefined ? ofFirstStage : scoreBoundsOf('encoder')
  return ({ scores, stage }) => {
    let risk: HoldBackRisk = 'clear'
    for (const { category, elevatedFrom, holdFrom } of stage === 'encoder' ? ofBothStages : ofFirstStage) {
      const score = scores[category]
      if (score >= holdFrom) return 'hold'
      if (score >= elevatedFrom) risk = 'elevated'
    }
    return risk
  }
}

const scoreOf = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds))

/** How much may be sent of a text that is classified up to `to`. While the risk is elevated, at most up to `elevatedTo`. */
export function limitByRisk(risk: HoldBackRisk, to: number, elevatedTo: number): number {
  if (risk === 'hold') return 0
  return risk === 'clear' ? to : Math.min(to, elevatedTo)
}

/** For a classifier without measured bounds. It is called rarely, so text waits for its next call anyway. */
const unmeasured: HoldBackBounds = {
  categories: perCategory(() => ({ elevatedFrom: -3, holdFrom: -3 })),
  keptBackCharacters: 0,
  openingWords: 0,
}

export const holdBackBoundsOf = ({ holdBackBounds = unmeasured }: Classifier): HoldBackBounds => holdBackBounds

/** A text without spaces has no words to count. */
const charactersPerWord = 8

/** True if the text has this many complete words. Before that it says too little about its risk. */
export const isOpeningComplete = (text: string, words: number): boolean =>
  text.length >= words * charactersPerWord || (text.match(/\S+\s/g)?.length ?? 0) >= words
