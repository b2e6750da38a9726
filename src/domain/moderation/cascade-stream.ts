import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { appendText } from '../../base/append-text.ts'
import { categories, perCategory } from './categories.ts'
import {
  flagThreshold,
  strongest,
  type Classification,
  type ClassifierStream,
  type ReachedPlace,
  type SynchronousClassifier,
  type TextDirection,
} from './classifier.ts'
import type { AskEncoder, EncoderAnswer } from './encoder-calls.ts'
import { createWindows } from './windows.ts'

export type CascadeStreamParts = {
  readonly first: SynchronousClassifier
  readonly direction: TextDirection
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly ask: AskEncoder
  readonly isNear: (linear: Classification) => boolean
  readonly settle: SettleText
  readonly judged: JudgeText
  /** How long a part of a streamed text waits for the encoder, and one that arrives as a whole. */
  readonly limits: { readonly streamLimitMs: number; readonly textLimitMs: number }
}

/** The result of both stages for a complete text, from the result of the first. */
export type SettleText = (
  linear: Classification,
  text: { readonly text: string; readonly direction: TextDirection; readonly limitMs: number },
) => MaybePromise<Classification>

/** The result of both stages from the answers of the encoder for the windows of a text. */
export type JudgeText = (
  linear: Classification,
  answers: readonly EncoderAnswer[],
  text: { readonly direction: TextDirection; readonly unread: number; readonly windows: readonly string[] },
) => Classification

/** The encoder reads the last 512 characters before a place. After so many further ones it is asked again. */
const askedEvery = 256
const windowCharacters = 512

/** A place that may need the encoder, with the result of the first stage for the window before it. */
type NearPlace = {
  readonly place: ReachedPlace
  readonly linear: Classification
  readonly window: string
  readonly isAsked: boolean
}

/**
 * Classifies a streamed text in two stages. The places are those of the first stage. At a place that it scores high enough, the
 * encoder reads the window before the place, and `push` waits for it. Other places cost nothing more. After the encoder was late
 * once, this text no longer waits for it.
 */
export function createCascadeStream(parts: CascadeStreamParts): ClassifierStream {
  const { first, direction, clock, ask, isNear, settle, judged, limits } = parts
  const stream = first.startStream(direction)
  const windows = createWindows()
  let text = ''
  let reached: readonly ReachedPlace[] = []
  /** The strongest result of both stages at the places so far. Undefined while no place was near. */
  let decided: Classification | undefined
  /** The strongest result of the first stage at the places so far. */
  let linearBefore: Classification | undefined
  let askedTo = -askedEvery
  let lastJudged: { readonly end: number; readonly linear: Classification; readonly both: Classification } | undefined
  let isLate = false
  let isWholeText = true

  function nearPlace(place: ReachedPlace): NearPlace {
    const { start, end } = windows.to(text, place.end)
    const window = text.slice(start, end)
    const linear = linearAt(place, linearBefore, first.classify(window, direction))
    linearBefore = place.classification
    const isDue = linear.flagged.length > 0 || place.end - askedTo >= askedEvery
    const isAsked = isDue && isNear(linear)
    if (isAsked) askedTo = place.end
    return { place, linear, window, isAsked }
  }

  function settlePlaces(places: readonly ReachedPlace[], limitMs: number): MaybePromise<unknown> {
    const firstNear = decided === undefined ? places.findIndex(({ classification }) => isNear(classification)) : 0
    if (firstNear === -1) {
      linearBefore = places.at(-1)?.classification ?? linearBefore
      return undefined
    }
    linearBefore = places[firstNear - 1]?.classification ?? linearBefore
    decided ??= linearBefore
    reached = places.slice(0, firstNear)
    const near = places.slice(firstNear).map(nearPlace)
    const asked = near.filter(({ isAsked }) => isAsked).map(({ window }) => window)
    const answered = isLate ? asked.map((): EncoderAnswer => 'linear_encoder_late') : ask(asked, limitMs)
    return andThen(answered, (answers) => decide(near, answers))
  }

  function decide(near: readonly NearPlace[], answers: readonly EncoderAnswer[]): void {
    const left = [...answers]
    for (const { place, linear, window, isAsked } of near) {
      const answer = isAsked ? left.shift() : undefined
      const both = answer === undefined ? linear : judged(linear, [answer], { direction, unread: 0, windows: [window] })
      isLate ||= answer === 'linear_encoder_late'
      if (both.stage === 'encoder') lastJudged = { end: place.end, linear, both }
      decided = decided === undefined ? both : strongest(decided, both)
      reached = [...reached, { end: place.end, classification: decided }]
    }
  }

  /** The first stage looks at the end of the text. What it found before, and the encoder did not confirm, does not hold text back. */
  function look(): Classification {
    const looked = stream.look()
    if (lastJudged === undefined || stream.settledTo() - lastJudged.end > windowCharacters) return looked
    const { linear, both } = lastJudged
    return flagged((category) =>
      looked.scores[category] <= linear.scores[category]
        ? Math.min(looked.scores[category], both.scores[category])
        : looked.scores[category],
    )
  }

  return {
    push(more, isWhole = false) {
      isWholeText &&= isWhole
      text = appendText(text, more)
      stream.push(more)
      reached = stream.reached()
      return reached.length === 0
        ? undefined
        : settlePlaces(reached, isWhole ? limits.textLimitMs : limits.streamLimitMs)
    },
    look,
    settledTo: stream.settledTo,
    lookAtEnd: stream.lookAtEnd,
    reached: () => reached,
    decided: () => decided ?? stream.decided(),
    end() {
      const limitMs = isWholeText ? limits.textLimitMs : limits.streamLimitMs
      const endsAtMs = clock.monotonicMs() + limitMs
      const ended = stream.end()
      reached = stream.reached()
      return andThen(settlePlaces(reached, limitMs), () => {
        const leftMs = isLate ? 0 : endsAtMs - clock.monotonicMs()
        return andThen(settle(ended.whole, { text, direction, limitMs: leftMs }), (whole) => ({
          whole,
          decided: decided ?? ended.decided,
        }))
      })
    },
    [Symbol.dispose]: () => stream[Symbol.dispose](),
  }
}

/**
 * The result of the first stage at one place. Its stream reports the highest scores so far: a score that has risen is that of this
 * place, and no other score is higher than those. Without the encoder the places then have the results of the first stage.
 */
function linearAt(place: ReachedPlace, before: Classification | undefined, window: Classification): Classification {
  const { scores } = place.classification
  return flagged((category) =>
    scores[category] > (before?.scores[category] ?? 0)
      ? scores[category]
      : Math.min(window.scores[category], scores[category]),
  )
}

function flagged(scoreOf: Parameters<typeof perCategory<number>>[0]): Classification {
  const scores = perCategory(scoreOf)
  return { scores, flagged: categories.filter((category) => scores[category] >= flagThreshold) }
}
