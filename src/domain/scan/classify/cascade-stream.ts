import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { appendText } from '../../../base/append-text.ts'
import { createCascadePeeks, type CascadePeeksParts } from './cascade-peeks.ts'
import { createCascadePoints, type CascadePointsParts } from './cascade-points.ts'
import { settleText } from './cascade-text.ts'
import { noClassification, type ClassifierStream, type DecisionPoint } from './classifier.ts'
import type { AskInTurn, EncoderTurns } from './encoder-turns.ts'
import { slicesOf } from '../normalise/slices.ts'
import { textWindows } from './text-windows.ts'

export type CascadeStreamParts = CascadePointsParts & {
  readonly turns: EncoderTurns
  /** Undefined if the encoder reads only at decision points. */
  readonly peeks: Pick<CascadePeeksParts, 'bounds' | 'clock' | 'askAside'> | undefined
}

/**
 * Classifies a streamed text in two stages. The decision points are those of the first stage. At one that it scores high enough,
 * `push` waits for the encoder. The others cost nothing more. Between them the encoder reads what would be held back, and nothing
 * waits for it.
 */
export function createCascadeStream(parts: CascadeStreamParts): ClassifierStream {
  const { first, direction, turns, isNear, questionOf } = parts
  const stream = first.startStream(direction)
  const points = createCascadePoints(parts)
  const peeks = parts.peeks && createCascadePeeks({ ...parts, ...parts.peeks })
  const readAhead = createReadAhead((window) => isNear(first.classify(window, direction)))
  let text = ''
  let reached: readonly DecisionPoint[] = []
  let isWholeText = true

  const settlePoints = (ask: AskInTurn): MaybePromise<unknown> => {
    reached = stream.reached()
    if (reached.length === 0) return undefined
    return andThen(points.settle(text, reached, ask), (settled) => (reached = settled))
  }

  return {
    firstStage: stream,
    push(more, isWhole = false) {
      isWholeText &&= isWhole
      text = appendText(text, more)
      stream.push(more)
      return andThen(settlePoints(turns.start(isWhole)), () => {
        if (!isWhole) peeks?.read(text, stream.peek(), stream.settledTo())
        const isPrefetchDue = reached.length > 0 && points.decided() !== undefined && !isWhole
        return isPrefetchDue ? turns.prefetch(readAhead(text), questionOf(noClassification)) : undefined
      })
    },
    peek() {
      const [peeked, to] = [stream.peek(), stream.settledTo()]
      const result = points.peek(text, peeked, to)
      return peeks?.peek(result, peeked, to) ?? result
    },
    settledTo: stream.settledTo,
    peekAtEnd: stream.peekAtEnd,
    reached: () => reached,
    decided: () => points.decided() ?? stream.decided(),
    decideRest: () => points.readDeferred(text, turns.start(isWholeText)),
    classifyPart: (part, isWhole = isWholeText) =>
      settleText(parts, first.classify(part, direction), { text: part, direction, ask: turns.start(isWhole) }),
    end() {
      const ask = turns.start(isWholeText)
      const ended = stream.end()
      const pointsDone = andThen(settlePoints(ask), () => points.readDeferred(text, ask))
      return andThen(pointsDone, () =>
        andThen(settleText(parts, ended.whole, { text, direction, ask }), (whole) => ({
          whole,
          decided: points.decided() ?? ended.decided,
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
