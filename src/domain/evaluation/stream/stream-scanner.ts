import { appendText } from '../../../base/append-text.ts'
import { andThen, isPromise, type MaybePromise } from '../../../base/maybe-promise.ts'
import { mayBeEncoded } from '../../scan/normalise/encoded-text.ts'
import { dependsOnContext } from '../../scan/normalise/normalise.ts'
import type { IncrementalScan, DecisionPoint, StreamedText } from '../../scan/stream/incremental-scan.ts'
import { sliceCharacters } from '../../scan/normalise/slices.ts'
import { maxPendingCharacters } from '../../scan/detect/detector.ts'
import type { Evaluation, Evaluate } from '../evaluate.ts'
import type { HoldBackPolicy } from './hold-back-policy.ts'
import { createPointEvaluation, notEvaluated, type EvaluatedText, type PointEvaluation } from './point-evaluation.ts'
import { createClearance } from './clearance.ts'
import { createJudgedWindows } from './judged-windows.ts'
import { createRuleWatch, type RuleWatch } from './rule-watch.ts'
import { isDenied } from '../verdict/combine.ts'
import { classificationReader, type Plan } from '../plan.ts'

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

export type StreamScannerParts = {
  readonly plan: Plan
  readonly holdBack: HoldBackPolicy
  readonly evaluate: Evaluate
  /** Evaluates without caches, because a part of a text is seen only once. */
  readonly evaluateUncached: Evaluate
  /** Yields to the event loop. */
  readonly pause: () => Promise<unknown>
  readonly incrementalScan: IncrementalScan
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
  const { plan, holdBack, evaluate, pause, incrementalScan } = parts
  const clearance = createClearance(incrementalScan.bounds, holdBack.blocking)
  const judged = createJudgedWindows(parts)
  let text = ''
  /** The end of the text that is not scanned yet. Kept separately, because a part of a text that grows is expensive to copy. */
  let unread = ''
  let lastPoint = 0
  let cleared = 0
  let wasHeldWhole = false
  // Created when they are needed. A text that arrives at once needs only the first.
  let streamed: StreamedText | undefined
  let watch: RuleWatch | undefined
  let steps: PointEvaluation | undefined

  const streamedText = (): StreamedText => (streamed ??= startText(parts))
  const ruleWatch = (): RuleWatch => (watch ??= createRuleWatch(holdBack))
  const pointEvaluation = (): PointEvaluation => (steps ??= createPointEvaluation(parts))
  const evaluated = (): EvaluatedText => steps?.evaluated() ?? notEvaluated

  /** Scans a long text in slices, and yields to the event loop in between. */
  function scan(): MaybePromise<Evaluation | undefined> {
    if (unread === '') return undefined
    const more = unread.slice(0, sliceCharacters)
    unread = unread.slice(sliceCharacters)
    ruleWatch().push(more, text)
    return andThen(judged.evaluateDue(text), () => andThen(streamedText().push(more), onRead))
  }

  const onRead = (points: readonly DecisionPoint[]): MaybePromise<Evaluation | undefined> =>
    points.length === 0 ? onAllowed() : andThen(evaluateDue(points), (denied) => denied ?? onAllowed())

  function onAllowed(): MaybePromise<Evaluation | undefined> {
    if (unread !== '') return pause().then(scan)
    clear(streamedText().settledTo())
    return undefined
  }

  /** Evaluates the decision points at which a rule may match, except for those of an earlier call. Returns the first denial. */
  function evaluateDue(points: readonly DecisionPoint[]): MaybePromise<Evaluation | undefined> {
    for (const [at, point] of points.entries()) {
      if (point.end <= lastPoint) continue
      const deniedWindow = judged.denialBefore(point.end)
      if (deniedWindow !== undefined) return deniedWindow
      lastPoint = point.end
      if (!ruleWatch().mayMatchAt(point, evaluated())) continue
      const evaluation = pointEvaluation().evaluateAt(text, point, streamedText())
      if (isPromise(evaluation))
        return evaluation.then((one) => (isDenied(one.verdict) ? one : evaluateDue(points.slice(at + 1))))
      if (isDenied(evaluation.verdict)) return evaluation
    }
    return undefined
  }

  function clear(to: number): void {
    if (ruleWatch().hasNewMatch(evaluated())) return
    const pendingFrom = ruleWatch().pendingFrom(text, evaluated())
    wasHeldWhole ||= to - pendingFrom > maxPendingCharacters
    const limit = clearance.limitOf(text, to, streamedText().peek())
    cleared = Math.max(cleared, Math.min(pendingFrom, judged.judgedTo(), limit))
  }

  /** Evaluates the rules that are otherwise evaluated only at decision points. */
  function tryRules(): MaybePromise<unknown> {
    const position = { end: text.length, previous: lastPoint, classification: streamedText().peek() }
    return holdBack.evaluatesEveryPoint ? pointEvaluation().tryAt(text, position, streamedText()) : undefined
  }

  function evaluateWhole(): MaybePromise<Evaluation> {
    if (text.trim() === '') return evaluate(plan, { texts: [], direction: 'response' })
    return andThen(readSlices(streamedText(), { unread, isWhole: unread === text, pause }), () =>
      andThen(streamedText().end(text), (mode) => evaluate(plan, { texts: [text], direction: 'response', mode })),
    )
  }

  /** If the whole text is denied, the first decision point at which it is denied gives the verdict, as it does in a slow stream. */
  async function firstDenial(): Promise<Evaluation | undefined> {
    streamed = undefined
    ruleWatch().push(unread, text)
    await judged.evaluateDue(text)
    for (let at = 0; at < text.length; at += sliceCharacters) {
      if (at > 0) await pause()
      const denied = await evaluateDue(await streamedText().push(text.slice(at, at + sliceCharacters)))
      if (denied !== undefined) return denied
    }
    return judged.denialBefore(Infinity)
  }

  const dispose = (): void => streamed?.[Symbol.dispose]()

  return {
    push(more) {
      text = appendText(text, more)
      unread += more
    },
    skipWindows: () => judged.skipTo(text.length),
    scan,
    firstDenial: () => firstDenial().finally(dispose),
    scanEnd() {
      if (streamed === undefined || cleared >= text.length) return undefined
      clearance.endOpening()
      return andThen(streamed.peekAtEnd(), () => andThen(tryRules(), () => clear(text.length)))
    },
    cleared: () => cleared,
    wasHeldWhole: () => wasHeldWhole || judged.holdsRest(),
    end: () =>
      andThen(evaluateWhole(), (evaluation) => {
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

const startText = ({ plan, incrementalScan }: StreamScannerParts): StreamedText =>
  incrementalScan.start('response', classificationReader(plan, 'response'))

type UnreadText = Pick<StreamScannerParts, 'pause'> & { readonly unread: string; readonly isWhole: boolean }

/** Reads the rest of a long text in slices, and yields to the event loop in between. Leaves the last slice. */
function readSlices(streamed: StreamedText, { unread, isWhole, pause }: UnreadText): MaybePromise<unknown> {
  if (unread.length <= sliceCharacters) return undefined
  const rest = { unread: unread.slice(sliceCharacters), isWhole, pause }
  return andThen(streamed.push(unread.slice(0, sliceCharacters), isWhole), () =>
    pause().then(() => readSlices(streamed, rest)),
  )
}

/** A part may be denied although the whole is not, because in parts a text may be decoded or folded differently. */
const mayDifferInPart = (text: string, holdBack: HoldBackPolicy): boolean =>
  mayBeEncoded(text) || mayFoldDifferently(text, holdBack)

/** True if a part of the text may be folded to other letters than in the whole text, and a rule searches for letters. */
export const mayFoldDifferently = (text: string, { longestTerm }: HoldBackPolicy): boolean =>
  longestTerm > 0 && dependsOnContext(text)
