import { andThen, sequentially, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Evaluation } from '../../domain/evaluation/findings/evaluate.ts'
import { createOutOfBandInspection, type OutOfBandInspection } from './out-of-band.ts'
import {
  createStreamScanner,
  type StreamScanner,
  type StreamScannerParts,
  type Mark,
  type WholeBlock,
} from '../../domain/evaluation/stream/stream-scanner.ts'
import { isDenied, denialOf, type CheckOutcome } from '../../domain/evaluation/verdict/outcome.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import { textOfJson } from '../../domain/evaluation/texts/request-texts.ts'
import { stringsIn } from '../../domain/evaluation/texts/text-fields.ts'
import type { BlockStart, InferenceEvent } from '../../domain/inference/events.ts'

export type StreamInspectionParts = StreamScannerParts & {
  /** Writes a text anew as the verdict wants it; undefined where that cannot be done. */
  readonly rephrased: (examination: Evaluation) => Promise<string | undefined>
}

/** Gives a block the text that was written for it. */
type ReplaceText = (block: number, text: string) => void

/** The eye on one answer: each of its blocks is followed by itself, however their events are mixed. */
export type StreamInspection = {
  /** What was said about it so far. */
  readonly outcomes: readonly CheckOutcome[]
  /** How much of which block must be cleared before these events may leave. To be asked before they are looked at. */
  marksOf(events: readonly InferenceEvent[]): readonly (Mark | undefined)[]
  /** Looks at all that events add, and says whether the answer may go on. */
  areFit(events: readonly InferenceEvent[]): MaybePromise<boolean>
  /** The same for what a piece says that no event tells of. */
  readonly asides: OutOfBandInspection
  /** Looks between two checks, so that what is fit to leave need not wait for the next. */
  lookAhead(keptBack: number): MaybePromise<void>
}

type Channel = { readonly part: BlockStart; readonly follower: StreamScanner; mark: number }

export function createStreamInspection(parts: StreamInspectionParts, replaceText: ReplaceText): StreamInspection {
  const channels = new Map<number, Channel>()
  const outcomes: CheckOutcome[] = []
  const asides = createOutOfBandInspection(parts, outcomes)

  function markOf(event: InferenceEvent): Mark | undefined {
    if (event.type === 'open') channels.set(event.block, openChannel(event.part, parts))
    const channel = channelOf(event)
    if (channel === undefined) return undefined
    if (event.type === 'delta') channel.mark += event.text.length
    return { follower: channel.follower, mark: channel.mark }
  }

  function channelOf(event: InferenceEvent): Channel | undefined {
    return event.type === 'start' || event.type === 'end' ? undefined : channels.get(event.block)
  }

  function areFit(events: readonly InferenceEvent[], from = 0): MaybePromise<boolean> {
    for (let at = from; at < events.length; at++) {
      const event = events[at]
      const isFit = event === undefined || isEventFit(event, events[at + 1])
      if (isPromise(isFit)) return isFit.then((fit) => fit && areFit(events, at + 1))
      if (!isFit) return false
    }
    return true
  }

  /** With a block ends also what was said beside it. */
  function isEventFit(event: InferenceEvent, next: InferenceEvent | undefined): MaybePromise<boolean> {
    if (event.type !== 'close' && event.type !== 'end') return isTextFit(event, next)
    return andThen(
      asides.end(event.type === 'close' ? 'block' : 'answer'),
      (areDone) => areDone && isTextFit(event, next),
    )
  }

  function isTextFit(event: InferenceEvent, next: InferenceEvent | undefined): MaybePromise<boolean> {
    const channel = channelOf(event)
    if (channel === undefined) return true
    const { follower } = channel
    if (event.type === 'close')
      return andThen(follower.end(), (examination) => isWholeFit(examination, channel.part, event.block))
    const text = textIn(event)
    if (text === undefined) return true
    follower.push(text)
    // Where its end has come too, one judgement is enough.
    const isComplete = next?.type === 'close' && channelOf(next) === channel
    return isComplete || andThen(follower.check(), isAllowed)
  }

  function isAllowed(denied: Evaluation | undefined): boolean {
    if (denied !== undefined) outcomes.push(...denied.verdict.outcomes)
    return denied === undefined
  }

  function isWholeFit(examination: Evaluation, part: BlockStart, block: number): MaybePromise<boolean> {
    const { verdict } = examination
    outcomes.push(...verdict.outcomes)
    if (!isRephrasing(verdict.effectiveDecision)) return !isDenied(verdict)
    const isProse = part.type !== 'tool-call' && part.type !== 'opaque'
    return andThen(isProse ? parts.rephrased(examination) : undefined, (text) => {
      if (text === undefined) outcomes.push(...denialOf(verdict))
      else replaceText(block, text)
      return text !== undefined
    })
  }

  return {
    outcomes,
    asides,
    marksOf: (events) => events.map(markOf),
    areFit,
    lookAhead: (keptBack) => sequentially([...channels.values()], ({ follower }) => follower.lookAhead(keptBack)),
  }
}

/** What an event adds to the text of its block; undefined where it adds nothing. */
function textIn(event: InferenceEvent): string | undefined {
  if (event.type === 'delta') return event.text
  return event.type === 'open' && event.part.type === 'opaque' ? stringsIn(event.part.raw).join('\n') : undefined
}

/** Prose leaves as it is cleared. A tool is called as a whole or not at all, and its words are those inside its JSON. */
function openChannel(part: BlockStart, parts: StreamInspectionParts): Channel {
  const special = specialOf(part)
  // What waits for its whole text waits with its first event too.
  const mark = parts.holding.isWhole || special !== undefined ? 1 : 0
  return { part, follower: createStreamScanner(parts, special), mark }
}

function specialOf(part: BlockStart): WholeBlock | undefined {
  if (part.type === 'tool-call') return { read: (json) => `${part.name}\n${textOfJson(json)}` }
  return part.type === 'opaque' ? {} : undefined
}
