import { andThen, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Evaluation } from '../../domain/evaluation/findings/evaluate.ts'
import {
  createStreamScanner,
  type StreamScanner,
  type StreamScannerParts,
  type Mark,
} from '../../domain/evaluation/stream/stream-scanner.ts'
import { textOfAddress } from '../../domain/evaluation/texts/text-fields.ts'
import { isDenied, denialOf, type CheckOutcome } from '../../domain/evaluation/verdict/outcome.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import type { OutOfBandText, Chunk } from '../../domain/inference/events.ts'

/**
 * Judges what an upstream's own words say and no event tells of. Nobody knows whether such a string is a whole text or a
 * piece of one that goes on in the next frame. So the strings of a piece are judged as they stand, unless its format calls
 * them pieces, and those of one field are followed as one growing text, which is held back as any other text is.
 */
export type OutOfBandInspection = {
  /** How much of which field must be cleared before these may leave. To be asked before they are looked at. */
  marksOf(asides: readonly OutOfBandText[]): readonly Mark[]
  /** Looks at all of them, and says whether the answer may go on. */
  areFit(asides: readonly OutOfBandText[]): MaybePromise<boolean>
  /**
   * Judges what has been said so far as complete. What is said later in the same fields is judged with the end of it. Where
   * only a block has ended, a text that comes in pieces goes on.
   */
  end(of: 'block' | 'answer'): MaybePromise<boolean>
}

type Field = { readonly follower: StreamScanner; text: string; mark: number; isInPieces: boolean }

/** More fields than any format has are read as one. */
const mostFields = 64
/** This much of what a field said before is read again with what it says next. */
const tailCharacters = 512

export function createOutOfBandInspection(parts: StreamScannerParts, outcomes: CheckOutcome[]): OutOfBandInspection {
  const fields = new Map<string, Field>()
  const tails = new Map<string, string>()
  const stepPlan = { ...parts.plan, policies: parts.holding.policies }

  function fieldOf(place: string): Field {
    const key = fields.has(place) || tails.has(place) || fields.size + tails.size < mostFields ? place : ''
    const known = fields.get(key)
    if (known !== undefined) return known
    const tail = tails.get(key) ?? ''
    const field = { follower: createStreamScanner(parts), text: tail, mark: tail.length, isInPieces: false }
    if (tail !== '') field.follower.push(tail)
    fields.set(key, field)
    return field
  }

  /** It is not held as a block, so it cannot be rewritten. */
  function isAllowed({ verdict }: Evaluation): boolean {
    const isRephrased = isRephrasing(verdict.effectiveDecision)
    outcomes.push(...verdict.outcomes, ...(isRephrased ? denialOf(verdict) : []))
    return !isDenied(verdict) && !isRephrased
  }

  /** By the rules for a text that grows: the others are asked when it is complete. */
  function areAllowed(asides: readonly OutOfBandText[]): MaybePromise<boolean> {
    const whole = asides.filter(({ isDelta: isPiece }) => isPiece !== true)
    if (whole.length === 0) return true
    const texts = [whole.map(({ text }) => text).join('\n')]
    return andThen(parts.glance(stepPlan, { texts, direction: 'response' }), (examination) =>
      examination.verdict.decision === 'allow' ? true : isAllowed(examination),
    )
  }

  function isFollowed({ field: place, text, isDelta: isPiece }: OutOfBandText): MaybePromise<boolean> {
    const field = fieldOf(place)
    field.text += text
    field.isInPieces = isPiece === true
    field.follower.push(text)
    return andThen(field.follower.check(), (denied) => denied === undefined || isAllowed(denied))
  }

  function areCleared(asides: readonly OutOfBandText[]): MaybePromise<boolean> {
    const followers = new Set(asides.map(({ field: place }) => fieldOf(place).follower))
    return every([...followers], (follower) => andThen(follower.lookAhead(0), () => true))
  }

  return {
    marksOf: (asides) =>
      asides.map(({ field: place, text }) => {
        const field = fieldOf(place)
        field.mark += text.length
        return { follower: field.follower, mark: field.mark }
      }),
    areFit: (asides) =>
      andThen(
        areAllowed(asides),
        (areFit) => areFit && andThen(every(asides, isFollowed), (areGoingOn) => areGoingOn && areCleared(asides)),
      ),
    end(of) {
      if (fields.size === 0) return true
      const ending = [...fields].filter(([, { isInPieces }]) => of === 'answer' || !isInPieces)
      for (const [place, { text }] of ending) {
        fields.delete(place)
        tails.set(place, text.slice(-tailCharacters))
      }
      return every(ending, ([, { follower }]) => andThen(follower.end(), isAllowed))
    },
  }
}

/** Whether all of them pass, one after the other. */
function every<T>(items: readonly T[], passes: (item: T) => MaybePromise<boolean>): MaybePromise<boolean> {
  for (const [at, item] of items.entries()) {
    const isFit = passes(item)
    if (isPromise(isFit)) return isFit.then((fit) => fit && every(items.slice(at + 1), passes))
    if (!isFit) return false
  }
  return true
}

/** What a piece says that no event tells of, less addresses and data. */
export function outOfBandTextsOf({ outOfBand: asides = none, events, raw: original }: Chunk): readonly OutOfBandText[] {
  if (original !== undefined) return asides.length === 0 ? asides : asides.flatMap(asText)
  // The proof of a thought is a signature, unless an upstream says so of something else.
  return events.flatMap((event) =>
    event.type === 'signature' ? asText({ field: 'signature', text: event.signature.value }) : none,
  )
}

const none: readonly never[] = []

function asText(aside: OutOfBandText): readonly OutOfBandText[] {
  const text = textOfAddress(aside.text)
  return text === undefined ? none : [{ ...aside, text }]
}
