/**
 * Scores texts that stream. Each character is read once. The kernel holds the state of one text at a time; the states of the
 * others are copied out, so that a stream that is dropped leaves nothing behind.
 */
import { appendText } from '../../../base/append-text.ts'
import { firstHomoglyph, foldCharacters } from '../../../domain/scan/normalise/normalise.ts'
import { createWordEnd } from '../../../domain/scan/normalise/word-end.ts'
import type { Address, Kernel } from './kernel/load.ts'
import { createStreamFolding, noPosition } from './stream-folding.ts'
import { categoryScoresAt, readPart, scoresOf, writeAscii, type RawScores, type TextScorer } from './text-scorer.ts'

/** See `ClassifierStream`; here with raw scores. */
export type ScoreStream = {
  push(text: string): void
  peek(): RawScores
  settledTo(): number
  peekAtEnd(): void
  decided(): RawScores | undefined
  reached(): readonly ScoredPoint[]
  end(): void
  /** The scores of the whole text, after `end`. */
  whole(): RawScores
  dispose(): void
}

/** The scores of a text that streamed to its end. */
export type StreamedScores = { readonly whole: RawScores; readonly decided: RawScores | undefined }

export type TextStreams = {
  start(): ScoreStream
  /** What a stream of this one text gives at its end. */
  scoreWhole(text: string): StreamedScores
}

/** A decision point, with the highest scores at it and all decision points before. */
export type ScoredPoint = { readonly end: number; readonly scores: RawScores }

export type TextStreamsParts = {
  readonly kernel: Kernel
  /** Scores complete texts: for letters that depend on their context, and for long texts. */
  readonly score: TextScorer
}

/** Buckets of a stream: 1,536 words. A longer text is read again for its whole score. */
const streamBuckets = 32
const bucketWords = 48
/** Letters that depend on their context are read again with this many characters before them. */
const contextCharacters = 512
/** Offsets of the kernel's `State`, in numbers of 32 bits. */
const wordsAt = 0
const positionAt = 3
const pointScoreBytes = 48

type Owner = { saved: Uint8Array | undefined }

export function createTextStreams({ kernel, score }: TextStreamsParts): TextStreams {
  const bytes = kernel.stateBytes(streamBuckets)
  const area = kernel.allocate(bytes)
  const areaBytes = (): Uint8Array => kernel.view.bytes.subarray(area, area + bytes)
  let owner: Owner | undefined

  function saveOwner(): void {
    if (owner !== undefined) (owner.saved ??= new Uint8Array(bytes)).set(areaBytes())
    owner = undefined
  }
  /** Makes the kernel hold the state of this stream. */
  function enter(stream: Owner): Address {
    if (owner === stream) return area
    saveOwner()
    if (stream.saved === undefined) kernel.begin(area, streamBuckets, noPosition)
    else kernel.view.bytes.set(stream.saved, area)
    owner = stream
    return area
  }
  /** Runs `work` on the state of the stream, and then takes back what it changed. */
  function runAndUndo<T>(stream: Owner, work: (state: Address) => T): T {
    const state = enter(stream)
    saveOwner()
    return work(state)
  }
  const leave = (stream: Owner): void => {
    if (owner === stream) owner = undefined
    stream.saved = undefined
  }
  const start = (): ScoreStream => createScoreStream({ kernel, score, enter, runAndUndo, leave })

  /** Undefined if letters of the text depend on their context, or if it is longer than the kernel reads at once. */
  function scoreAtOnce(text: string): StreamedScores | undefined {
    const isAscii = text.length <= kernel.maxPush && writeAscii(kernel, text)
    const folded = isAscii ? text : foldAtOnce(text)
    if (folded === undefined || folded.length > kernel.maxPush) return undefined
    saveOwner()
    kernel.begin(area, streamBuckets, noPosition)
    const inText = lastPointScores(isAscii ? kernel.readAscii(area, text.length) : readPart(kernel, area, folded))
    const atEnd = lastPointScores(kernel.read(area, 0, 1))
    const words = kernel.view.numbers[(area >> 2) + wordsAt] ?? 0
    const whole = words <= streamBuckets * bucketWords ? scoresOf(kernel, area) : score(text)
    return { whole, decided: atEnd ?? inText }
  }

  /** The highest scores at the decision points that the kernel has just passed and all before. */
  const lastPointScores = (pointCount: number): RawScores | undefined =>
    pointCount === 0
      ? undefined
      : categoryScoresAt(kernel, kernel.decisionPointScores + (pointCount - 1) * pointScoreBytes)

  function scoreStreamed(text: string): StreamedScores {
    const stream = start()
    stream.push(text)
    stream.end()
    return { whole: stream.whole(), decided: stream.decided() }
  }

  return { start, scoreWhole: (text) => scoreAtOnce(text) ?? scoreStreamed(text) }
}

/** Undefined if letters of the text depend on their context. */
function foldAtOnce(text: string): string | undefined {
  const folded = foldCharacters(text)
  return firstHomoglyph(folded) >= 0 ? undefined : folded
}

type StreamParts = TextStreamsParts & {
  readonly enter: (stream: Owner) => Address
  readonly runAndUndo: <T>(stream: Owner, work: (state: Address) => T) => T
  readonly leave: (stream: Owner) => void
}

function createScoreStream({ kernel, score, enter, runAndUndo, leave }: StreamParts): ScoreStream {
  const self: Owner = { saved: undefined }
  const folding = createStreamFolding()
  let text = ''
  let words = 0
  /** Position in the folded text up to which it is read. */
  let position = 0
  let decided: RawScores | undefined
  let reached: readonly ScoredPoint[] = []
  /** A character such as ㌖ folds to several words, and a decision point may be between them. It ends with the character. */
  let lastPointEnd = 0
  let peeked: RawScores | undefined
  let isPeekedAtEnd = false
  let wholeScores: RawScores | undefined

  function read(folded: string): void {
    const isContextual = folding.contextFrom() < noPosition
    for (let at = 0; at < folded.length; at += kernel.maxPush) {
      const state = enter(self)
      if (isContextual) kernel.setDecidesTo(state, folding.contextFrom())
      const part = folded.length <= kernel.maxPush ? folded : folded.slice(at, at + kernel.maxPush)
      notice(state, readPart(kernel, state, part))
    }
  }

  /** Takes over what the kernel read, and the decision points that it passed. */
  function notice(state: Address, pointCount: number): void {
    const { numbers } = kernel.view
    const wordsBefore = words
    words = numbers[(state >> 2) + wordsAt] ?? 0
    position = numbers[(state >> 2) + positionAt] ?? 0
    if (words !== wordsBefore || position > folding.contextFrom()) peeked = undefined
    if (pointCount > 0) reached = [...reached, ...reachedPoints(pointCount)]
  }

  function reachedPoints(count: number): readonly ScoredPoint[] {
    const points = Array.from({ length: count }, (_, at) => ({
      end: kernel.view.numbers[(kernel.decisionPoints >> 2) + at] ?? 0,
      highest: categoryScoresAt(kernel, kernel.decisionPointScores + at * pointScoreBytes),
    }))
    return points.map(({ end, highest }) => {
      const pointEnd = folding.endOf(end)
      lastPointEnd = pointEnd
      decided = end <= folding.contextFrom() ? highest : highestOf(decided, scoreInContext(pointEnd))
      return { end: pointEnd, scores: decided }
    })
  }

  function scoreInContext(end: number): RawScores {
    const start = end > contextCharacters ? createWordEnd()(text, end - contextCharacters) : 0
    return score(text.slice(start, end))
  }

  function peekAt(state: Address): RawScores {
    kernel.look(state)
    return categoryScoresAt(kernel, kernel.categoryScores)
  }

  function peekPastEnd(state: Address): RawScores {
    kernel.read(state, 0, 1)
    return peekAt(state)
  }

  return {
    push(more) {
      if (isPeekedAtEnd) peeked = undefined
      isPeekedAtEnd = false
      text = appendText(text, more)
      reached = []
      // Most chunks are ASCII. Writing to the kernel's input is the cheapest way to find that out.
      if (folding.isWaiting() || more.length > kernel.maxPush || !writeAscii(kernel, more)) {
        read(folding.fold(more))
        return
      }
      folding.skip(more.length)
      const state = enter(self)
      notice(state, kernel.readAscii(state, more.length))
    },
    peek() {
      if (peeked === undefined)
        peeked = position > folding.contextFrom() ? scoreInContext(folding.startOf(position)) : peekAt(enter(self))
      return peeked
    },
    settledTo: () => (isPeekedAtEnd ? text.length : Math.max(folding.startOf(position), lastPointEnd)),
    peekAtEnd() {
      if (isPeekedAtEnd) return
      isPeekedAtEnd = true
      const isContextual = folding.contextFrom() < noPosition || folding.isWaiting()
      peeked = isContextual ? scoreInContext(text.length) : runAndUndo(self, peekPastEnd)
    },
    decided: () => decided,
    reached: () => reached,
    end() {
      reached = []
      read(folding.end())
      const state = enter(self)
      notice(state, kernel.read(state, 0, 1))
      if (folding.contextFrom() === noPosition && words <= streamBuckets * bucketWords)
        wholeScores = scoresOf(kernel, state)
      leave(self)
    },
    whole: () => (wholeScores ??= score(text)),
    dispose: () => leave(self),
  }
}

function highestOf(first: RawScores | undefined, second: RawScores): RawScores {
  if (first === undefined) return second
  return {
    'self-harm': Math.max(first['self-harm'], second['self-harm']),
    'sexual/minors': Math.max(first['sexual/minors'], second['sexual/minors']),
    harassment: Math.max(first.harassment, second.harassment),
    hate: Math.max(first.hate, second.hate),
    illicit: Math.max(first.illicit, second.illicit),
    sexual: Math.max(first.sexual, second.sexual),
  }
}
