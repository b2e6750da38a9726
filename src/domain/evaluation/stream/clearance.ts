/** How much of a streamed text may be sent, by how close it is to being denied. */
import type { Category } from '../../moderation/categories.ts'
import type { Classification, HoldBackBounds } from '../../moderation/classifier.ts'
import { maxPendingCharacters } from '../../moderation/stream-matcher.ts'

export type Clearance = {
  /** How many characters from the start may be sent. */
  cleared(): number
  /** True if a pending match made the text wait as if a rule needed all of it. */
  wasHeldWhole(): boolean
  /** Clears the text up to a position, except for what is near a threshold or pending. */
  clear(to: number, scanned: ScannedEnd): void
  /** Clears all text. */
  clearAll(): void
}

/** The end of a streamed text after a scan. */
export type ScannedEnd = {
  readonly text: string
  readonly classification: Classification
  /** Start of the text that may still become part of a match. */
  readonly pendingFrom: number
}

export function createClearance(bounds: HoldBackBounds, blocking: readonly Category[]): Clearance {
  const riskOf = createRisk(bounds, blocking)
  let isOpened = bounds.openingWords === 0
  let cleared = 0
  let wasHeldWhole = false
  return {
    cleared: () => cleared,
    wasHeldWhole: () => wasHeldWhole,
    clear(to, { text, classification, pendingFrom }) {
      wasHeldWhole ||= to - pendingFrom > maxPendingCharacters
      const risk = riskOf(classification)
      isOpened ||= isOpeningComplete(text.slice(0, to), bounds.openingWords)
      if (risk === 'frozen' || !isOpened) return
      const keptBack = risk === 'calm' ? 0 : bounds.keptBackCharacters
      cleared = Math.max(cleared, Math.min(to, text.length - keptBack, pendingFrom))
    },
    clearAll: () => void (cleared = Infinity),
  }
}

/** `calm`: nothing is held back. `raised`: a few words are. `frozen`: everything is. */
type Risk = 'calm' | 'raised' | 'frozen'

function createRisk(bounds: HoldBackBounds, blocking: readonly Category[]): (classification: Classification) => Risk {
  const scoreBounds = blocking.map((category) => {
    const { calm, frozen } = bounds.categories[category]
    return { category, calm: scoreOf(calm), frozen: scoreOf(frozen) }
  })
  return ({ scores }) => {
    let risk: Risk = 'calm'
    for (const { category, calm, frozen } of scoreBounds) {
      const score = scores[category]
      if (score >= frozen) return 'frozen'
      if (score >= calm) risk = 'raised'
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
