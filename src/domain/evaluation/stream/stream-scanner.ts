import { appendText } from '../../../base/append-text.ts'
import { andThen, isPromise, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { Classifier, ClassifierStream, DecisionPoint } from '../../scan/classify/classifier.ts'
import { startClassifierStream } from '../../scan/classify/windowed-stream.ts'
import { maxPendingCharacters } from '../../scan/detect/detector.ts'
import { mayBeEncoded } from '../../scan/normalise/encoded-text.ts'
import { dependsOnContext } from '../../scan/normalise/normalise.ts'
import { sliceCharacters } from '../../scan/normalise/slices.ts'
import { createRiskOf, holdBackBoundsOf, isOpeningComplete, limitByRisk } from '../../scan/stream/hold-back-risk.ts'
import { wholeMode, type ClassifiedStream, type ClassifiedText } from '../../scan/stream/stream-modes.ts'
import type { Evaluation, Evaluate } from '../evaluate.ts'
import type { HoldBackPolicy } from './hold-back-policy.ts'
import { createJudgedWindows } from './judged-windows.ts'
import { createStreamRules, type StreamRules, type StreamRulesParts } from './stream-rules.ts'
import { isDenied } from '../verdict/combine.ts'
import { classificationReader } from '../plan.ts'

/**
 * Scans one block of a response while it streams and reports how much of it may be sent. A text is denied only at decision points that
 * depend on the text alone, never on how it was cut into chunks: a streamed and a whole response get the same verdict.
 */
export type StreamScanner = Disposable & {
  /** Appends text to the block. */
  push(text: string): void
  /** The text so far needs no judge by paragraph, because its parts were judged one by one. */
  skipWindows(): void
  /** Scans the text that was added. Returns the evaluation that denies the text, if one does. */
  scan(): MaybePromise<Evaluation | undefined>
  /** Clears the unfinished word at the end of the text as well, if it is harmless. For an upstream that is idle. */
  scanEnd(): MaybePromise<unknown>
  /** How many characters from the start may be sent. */
  cleared(): number
  /** True if a pending match, or the number of paragraphs, made the block wait as if a rule needed all of it. */
  wasHeldWhole(): boolean
  /** Evaluates the whole block. Call once, after the last `push`. */
  end(): MaybePromise<Evaluation>
}

/** A position in the text of a scanner. */
export type Mark = { readonly scanner: StreamScanner; readonly position: number }

/** True if all text before the position may be sent. */
export const isCleared = (mark: Mark | undefined): boolean =>
  mark === undefined || mark.scanner.cleared() >= mark.position

export type StreamScannerParts = StreamRulesParts & {
  readonly evaluate: Evaluate
  /** Yields to the event loop. */
  readonly pause: () => Promise<unknown>
  readonly classifier: Classifier
}

/** A block that is not prose, such as a tool call: it is held back until it is complete. */
export type WholeBlock = {
  /** The text to evaluate, if that is not the block's own text. */
  readonly textOf?: (text: string) => string
}

export function createStreamScanner(parts: StreamScannerParts, wholeBlock?: WholeBlock): StreamScanner {
  if (wholeBlock !== undefined) return createWholeScanner(parts, wholeBlock)
  const prose = createProseScanner(parts)
  return parts.holdBack.holdsWholeBlock ? heldUntilEnd(prose) : prose
}

/** Prose that a rule holds back is scanned when it is complete. Its verdict is that of a text that arrives at once. */
const heldUntilEnd = (prose: StreamScanner): StreamScanner => ({
  ...prose,
  scan: () => undefined,
  scanEnd: () => undefined,
  wasHeldWhole: () => false,
})

/** Evaluates a block that is not prose once, when it is complete. */
function createWholeScanner({ plan, evaluate }: StreamScannerParts, { textOf }: WholeBlock): StreamScanner {
  let text = ''
  let cleared = 0
  return {
    push: (more) => void (text = appendText(text, more)),
    skipWindows: () => undefined,
    scan: () => undefined,
    scanEnd: () => undefined,
    cleared: () => cleared,
    wasHeldWhole: () => false,
    end() {
      const whole = textOf?.(text) ?? text
      const texts = whole.trim() === '' ? [] : [whole]
      return andThen(evaluate(plan, { texts, direction: 'response' }), (evaluation) => {
        if (!isDenied(evaluation.verdict)) cleared = Infinity
        return evaluation
      })
    },
    [Symbol.dispose]: () => undefined,
  }
}

/** The scanner of prose. */
export type ProseScanner = StreamScanner & {
  /** The first denial at a decision point or in a paragraph. For a text that is denied, or may be in parts, and arrived at once. */
  firstDenial(): Promise<Evaluation | undefined>
}

/**
 * Reads every chunk once. As long as no score is near its threshold, and nothing matches or may still match, all text except the
 * unfinished word at its end is cleared, and no rule is evaluated. Otherwise the text is evaluated at the next decision point.
 */
export function createProseScanner(parts: StreamScannerParts): ProseScanner {
  const { holdBack, pause, classifier } = parts
  const bounds = holdBackBoundsOf(classifier)
  const riskOf = createRiskOf(bounds, holdBack.blocking)
  const judged = createJudgedWindows(parts)
  let text = ''
  /** The end of the text that is not scanned yet. Kept separately, because a part of a text that grows is expensive to copy. */
  let unread = ''
  let lastPoint = 0
  let cleared = 0
  let wasHeldWhole = false
  /** The first words of a text are held back until they are complete. */
  let isOpened = bounds.openingWords === 0
  // Created when they are needed. A text that arrives at once needs only the first.
  let classified: ClassifiedStream | undefined
  let rules: StreamRules | undefined

  const read = (): ClassifiedStream => (classified ??= startStream(parts))
  const streamRules = (): StreamRules => (rules ??= createStreamRules(parts))

  /** Scans a long text in slices, and yields to the event loop in between. */
  function scan(): MaybePromise<Evaluation | undefined> {
    if (unread === '') return undefined
    const more = unread.slice(0, sliceCharacters)
    unread = unread.slice(sliceCharacters)
    streamRules().push(more, text)
    return andThen(judged.evaluateDue(text), () => andThen(classify(read().stream, more), onClassified))
  }

  const onClassified = (points: readonly DecisionPoint[]): MaybePromise<Evaluation | undefined> =>
    points.length === 0 ? onAllowed() : andThen(evaluateDue(points), (denied) => denied ?? onAllowed())

  function onAllowed(): MaybePromise<Evaluation | undefined> {
    if (unread !== '') return pause().then(scan)
    clear(read().stream.settledTo())
    return undefined
  }

  /** Evaluates the decision points at which a rule may match, except for those of an earlier call. Returns the first denial. */
  function evaluateDue(points: readonly DecisionPoint[]): MaybePromise<Evaluation | undefined> {
    for (const [at, point] of points.entries()) {
      if (point.end <= lastPoint) continue
      const deniedWindow = judged.denialBefore(point.end)
      if (deniedWindow !== undefined) return deniedWindow
      const previous = lastPoint
      lastPoint = point.end
      if (!streamRules().mayMatchAt(point)) continue
      const evaluation = streamRules().evaluateAt({ text, point, previous, read: read() })
      if (isPromise(evaluation))
        return evaluation.then((one) => (isDenied(one.verdict) ? one : evaluateDue(points.slice(at + 1))))
      if (isDenied(evaluation.verdict)) return evaluation
    }
    return undefined
  }

  /** Clears the text up to the least position to which everything is settled: the rules, the judges and the risk. */
  function clear(to: number): void {
    if (streamRules().hasNewMatch()) return
    const settledTo = streamRules().settledTo(text)
    wasHeldWhole ||= to - settledTo > maxPendingCharacters
    isOpened ||= isOpeningComplete(text.slice(0, to), bounds.openingWords)
    const risk = isOpened ? riskOf(read().stream.peek()) : 'hold'
    const limit = limitByRisk(risk, to, text.length - bounds.keptBackCharacters)
    cleared = Math.max(cleared, Math.min(settledTo, judged.judgedTo(), limit))
  }

  function scanEnd(): MaybePromise<unknown> {
    if (classified === undefined || cleared >= text.length) return undefined
    isOpened = true
    const { stream } = classified
    return andThen(stream.peekAtEnd(), () => {
      const point = { end: text.length, classification: stream.peek() }
      const tried = streamRules().tryAt({ text, point, previous: lastPoint, read: read() })
      return andThen(tried, () => clear(text.length))
    })
  }

  /** If the whole text is denied, the first decision point at which it is denied gives the verdict, as it does in a slow stream. */
  async function firstDenial(): Promise<Evaluation | undefined> {
    classified = undefined
    streamRules().push(unread, text)
    await judged.evaluateDue(text)
    for (let at = 0; at < text.length; at += sliceCharacters) {
      if (at > 0) await pause()
      const denied = await evaluateDue(await classify(read().stream, text.slice(at, at + sliceCharacters)))
      if (denied !== undefined) return denied
    }
    return judged.denialBefore(Infinity)
  }

  const dispose = (): void => classified?.stream[Symbol.dispose]()

  return {
    push(more) {
      text = appendText(text, more)
      unread += more
    },
    skipWindows: () => judged.skipTo(text.length),
    scan,
    firstDenial: () => firstDenial().finally(dispose),
    scanEnd,
    cleared: () => cleared,
    wasHeldWhole: () => wasHeldWhole || judged.holdsRest(),
    end: () =>
      andThen(evaluateWhole(parts, { text, unread, read }), (evaluation) => {
        dispose()
        const isPartDue = isDenied(evaluation.verdict) || mayDifferInPart(text, holdBack)
        return andThen(isPartDue ? firstDenial().finally(dispose) : undefined, (denied) => {
          if (!isDenied((denied ?? evaluation).verdict)) cleared = Infinity
          return denied ?? evaluation
        })
      }),
    [Symbol.dispose]: dispose,
  }
}

/** How the text of a response is classified under a plan. */
export const classifiedResponse = ({ plan, classifier }: StreamScannerParts): ClassifiedText => ({
  classifier,
  direction: 'response',
  reader: classificationReader(plan, 'response'),
})

function startStream(parts: StreamScannerParts): ClassifiedStream {
  const text = classifiedResponse(parts)
  return { ...text, stream: startClassifierStream(text.classifier, text.direction, text.reader) }
}

/** Classifies further text. Returns the decision points in it. */
const classify = (stream: ClassifierStream, more: string): MaybePromise<readonly DecisionPoint[]> =>
  andThen(stream.push(more), () => stream.reached())

type WholeText = { readonly text: string; readonly unread: string; readonly read: () => ClassifiedStream }

/** Evaluates a complete text, of which the end may not be classified yet. */
function evaluateWhole(
  { plan, evaluate, pause }: StreamScannerParts,
  { text, unread, read }: WholeText,
): MaybePromise<Evaluation> {
  if (text.trim() === '') return evaluate(plan, { texts: [], direction: 'response' })
  return andThen(readRest(read().stream, { unread, isWhole: unread === text, pause }), () =>
    evaluate(plan, { texts: [text], direction: 'response', mode: wholeMode(read(), text) }),
  )
}

type UnreadText = Pick<StreamScannerParts, 'pause'> & { readonly unread: string; readonly isWhole: boolean }

/** Classifies the rest of a text in slices, and yields to the event loop in between. */
function readRest(stream: ClassifierStream, { unread, isWhole, pause }: UnreadText): MaybePromise<unknown> {
  if (unread === '') return undefined
  const reading = stream.push(unread.slice(0, sliceCharacters), isWhole)
  if (unread.length <= sliceCharacters) return reading
  const rest = { unread: unread.slice(sliceCharacters), isWhole, pause }
  return andThen(reading, () => pause().then(() => readRest(stream, rest)))
}

/** A part may be denied although the whole is not, because in parts a text may be decoded or folded differently. */
const mayDifferInPart = (text: string, holdBack: HoldBackPolicy): boolean =>
  mayBeEncoded(text) || mayFoldDifferently(text, holdBack)

/** True if a part of the text may be folded to other letters than in the whole text, and a rule searches for letters. */
export const mayFoldDifferently = (text: string, { longestTerm }: HoldBackPolicy): boolean =>
  longestTerm > 0 && dependsOnContext(text)
