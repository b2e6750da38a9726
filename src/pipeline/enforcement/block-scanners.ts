import { andThen, sequentially, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Evaluation } from '../../domain/evaluation/evaluate.ts'
import { createSettleBlock, textIn, wholeBlockOf, type ReplaceText, type RephraseBlock } from './response-block.ts'
import { createOutOfBandInspection, type OutOfBandInspection } from './out-of-band.ts'
import {
  createStreamScanner,
  type StreamScanner,
  type StreamScannerParts,
  type Mark,
} from '../../domain/evaluation/stream/stream-scanner.ts'
import { requiredCoverage, type ResponseCoverage } from '../../domain/evaluation/stream/hold-back-policy.ts'
import type { Decision } from '../../domain/evaluation/verdict/combine.ts'
import type { BlockStart, InferenceEvent } from '../../domain/inference/events.ts'

export type BlockScannersParts = StreamScannerParts & { readonly rephrase: RephraseBlock }

/** The scanners of one response: each block has its own, however the events of the blocks are interleaved. */
export type BlockScanners = Disposable & {
  /** The decisions so far. */
  readonly decisions: readonly Decision[]
  /** How much of the response was evaluated before any of it was sent. */
  coverage(): ResponseCoverage
  /** The position of each event that must be cleared before it may be sent. Call before `scan`. */
  marksOf(events: readonly InferenceEvent[]): readonly (Mark | undefined)[]
  /** Scans everything the events add. Returns whether the response may continue. */
  scan(events: readonly InferenceEvent[]): MaybePromise<boolean>
  /** The same for text that raw frames contain and no event carries. */
  outOfBand(): OutOfBandInspection
  /** Clears unfinished words as well, if they are harmless. For an upstream that is idle. */
  scanEnds(): MaybePromise<void>
}

type Channel = { readonly part: BlockStart; readonly scanner: StreamScanner; position: number }

export function createBlockScanners(parts: BlockScannersParts, replaceText: ReplaceText): BlockScanners {
  const channels = new Map<number, Channel>()
  const decisions: Decision[] = []
  const settle = createSettleBlock(parts.rephrase, decisions, replaceText)
  /** Created when it is needed: most responses have no such text. */
  let outOfBand: OutOfBandInspection | undefined

  function markOf(event: InferenceEvent): Mark | undefined {
    if (event.type === 'open') channels.set(event.block, openChannel(event.part, parts))
    const channel = channelOf(event)
    if (channel === undefined) return undefined
    if (event.type === 'delta') channel.position += event.text.length
    return { scanner: channel.scanner, position: channel.position }
  }

  function channelOf(event: InferenceEvent): Channel | undefined {
    return event.type === 'start' || event.type === 'end' ? undefined : channels.get(event.block)
  }

  function scan(events: readonly InferenceEvent[], from = 0): MaybePromise<boolean> {
    for (let at = from; at < events.length; at++) {
      const event = events[at]
      const allowed = event === undefined || scanEvent(event, events[at + 1])
      if (isPromise(allowed)) return allowed.then((isEventAllowed) => isEventAllowed && scan(events, at + 1))
      if (!allowed) return false
    }
    return true
  }

  /** The end of a block also ends its out-of-band text. */
  function scanEvent(event: InferenceEvent, next: InferenceEvent | undefined): MaybePromise<boolean> {
    if (outOfBand === undefined || (event.type !== 'close' && event.type !== 'end')) return scanBlock(event, next)
    return andThen(
      outOfBand.end(event.type === 'close' ? 'block' : 'answer'),
      (isOutOfBandAllowed) => isOutOfBandAllowed && scanBlock(event, next),
    )
  }

  function scanBlock(event: InferenceEvent, next: InferenceEvent | undefined): MaybePromise<boolean> {
    const channel = channelOf(event)
    if (channel === undefined) return true
    const { scanner } = channel
    if (event.type === 'close')
      return andThen(scanner.end(), (evaluation) => settle(evaluation, channel.part, event.block))
    const text = textIn(event)
    if (text === undefined) return true
    scanner.push(text)
    // If the next event closes the block, `scanner.end` evaluates all of it.
    const isComplete = next?.type === 'close' && channelOf(next) === channel
    return isComplete || andThen(scanner.scan(), isAllowed)
  }

  function isAllowed(denied: Evaluation | undefined): boolean {
    if (denied !== undefined) decisions.push(...denied.verdict.decisions)
    return denied === undefined
  }

  return {
    decisions,
    // Not a getter: V8 gives an object with one a hidden class of its own, which keeps the request alive.
    outOfBand: () => (outOfBand ??= createOutOfBandInspection(parts, decisions)),
    marksOf: (events) => events.map(markOf),
    scan,
    scanEnds: () => sequentially([...channels.values()], ({ scanner }) => scanner.scanEnd()),
    coverage() {
      const isWhole = channels.values().some(({ scanner }) => scanner.wasHeldWhole())
      return isWhole ? 'whole' : requiredCoverage(parts.holdBack)
    },
    [Symbol.dispose]() {
      for (const { scanner } of channels.values()) scanner[Symbol.dispose]()
      outOfBand?.[Symbol.dispose]()
    },
  }
}

/** Prose is sent as it is cleared. A tool call is sent whole, and the strings inside its JSON are what is evaluated. */
function openChannel(part: BlockStart, parts: BlockScannersParts): Channel {
  const wholeBlock = wholeBlockOf(part)
  // A block that waits for its whole text also holds back its `open` event.
  const position = parts.holdBack.holdsWholeBlock || wholeBlock !== undefined ? 1 : 0
  return { part, scanner: createStreamScanner(parts, wholeBlock), position }
}
