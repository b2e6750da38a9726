import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { appendText } from '../../../base/append-text.ts'
import { createCascadeLooks, type CascadeLooksParts } from './cascade-peeks.ts'
import { createCascadePlaces, type CascadePlacesParts } from './cascade-points.ts'
import { settleText } from './cascade-text.ts'
import { noClassification, type ClassifierStream, type ReachedPlace } from './classifier.ts'
import type { AskInTurn, EncoderTurns } from './encoder-turns.ts'
import { slicesOf } from '../normalise/slices.ts'
import { textWindows } from './text-windows.ts'

export type CascadeStreamParts = CascadePlacesParts & {
  readonly turns: EncoderTurns
  /** Undefined if the encoder reads only at places. */
  readonly looks: Pick<CascadeLooksParts, 'bounds' | 'clock' | 'askAside'> | undefined
}

/**
 * Classifies a streamed text in two stages. The places are those of the first stage. At a place that it scores high enough, `push`
 * waits for the encoder. Other places cost nothing more. Between places the encoder reads what would be held back, and nothing waits.
 */
export function createCascadeStream(parts: CascadeStreamParts): ClassifierStream {
  const { first, direction, turns, isNear, questionOf } = parts
  const stream = first.startStream(direction)
  const places = createCascadePlaces(parts)
  const looks = parts.looks && createCascadeLooks({ ...parts, ...parts.looks })
  const readAhead = createReadAhead((window) => isNear(first.classify(window, direction)))
  let text = ''
  let reached: readonly ReachedPlace[] = []
  let isWholeText = true

  const settlePlaces = (ask: AskInTurn): MaybePromise<unknown> => {
    reached = stream.reached()
    if (reached.length === 0) return undefined
    return andThen(places.settle(text, reached, ask), (settled) => (reached = settled))
  }

  return {
    firstStage: stream,
    push(more, isWhole = false) {
      isWholeText &&= isWhole
      text = appendText(text, more)
      stream.push(more)
      return andThen(settlePlaces(turns.start(isWhole)), () => {
        if (!isWhole) looks?.read(text, stream.look(), stream.settledTo())
        const isAhead = reached.length > 0 && places.decided() !== undefined && !isWhole
        return isAhead ? turns.askAhead(readAhead(text), questionOf(noClassification)) : undefined
      })
    },
    look() {
      const [looked, to] = [stream.look(), stream.settledTo()]
      const result = places.look(text, looked, to)
      return looks?.look(result, looked, to) ?? result
    },
    settledTo: stream.settledTo,
    lookAtEnd: stream.lookAtEnd,
    reached: () => reached,
    decided: () => places.decided() ?? stream.decided(),
    decideRest: () => places.readDeferred(text, turns.start(isWholeText)),
    classifyPart: (part, isWhole = false) =>
      settleText(parts, first.classify(part, direction), { text: part, direction, ask: turns.start(isWhole) }),
    end() {
      const ask = turns.start(isWholeText)
      const ended = stream.end()
      const placesDone = andThen(settlePlaces(ask), () => places.readDeferred(text, ask))
      return andThen(placesDone, () =>
        andThen(settleText(parts, ended.whole, { text, direction, ask }), (whole) => ({
          whole,
          decided: places.decided() ?? ended.decided,
        })),
      )
    },
    [Symbol.dispose]: () => stream[Symbol.dispose](),
  }
}

/**
 * The windows in which the complete text will be read, each as soon as it is complete, so that only the last is left at the end.
 * Their logits are cached.
 */
function createReadAhead(isWindowNear: (window: string) => boolean): (text: string) => readonly string[] {
  let windowsBefore = 0
  return (text) => {
    const complete = slicesOf(text).flatMap((slice, at, slices) => {
      const windows = textWindows(slice.text)
      return at < slices.length - 1 ? windows : windows.slice(0, -1)
    })
    const more = complete.slice(windowsBefore)
    windowsBefore = complete.length
    return more.filter(isWindowNear)
  }
}
