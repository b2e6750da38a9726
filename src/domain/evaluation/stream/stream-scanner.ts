import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { categories } from '../../moderation/categories.ts'
import { pendingEncodedStart } from '../../moderation/pending-encoded-text.ts'
import { strongest, type Classification } from '../../moderation/classifier.ts'
import { dependsOnContext, type Span } from '../../moderation/normalise.ts'
import type { StreamedText, IncrementalScan } from '../../moderation/incremental-scan.ts'
import { longestWord } from '../../moderation/word-end.ts'
import type { Evaluation, Evaluate } from '../evaluate.ts'
import type { Findings } from '../scan/findings.ts'
import { isNearThreshold, type HoldBackPolicy } from './hold-back-policy.ts'
import type { ScannedTexts } from '../scan/collect-findings.ts'
import { isDenied } from '../verdict/combine.ts'
import type { Plan } from '../plan.ts'
import { lookBehind } from './look-behind.ts'
import { createWindows, stepCharacters } from './windows.ts'

/**
 * Scans one block of a response while it streams and reports how much of it may be sent. Scan positions depend on the
 * text alone, never on how it was cut into chunks: a streamed and a whole response get the same verdict.
 */
export type StreamScanner = {
  /** Appends text to the block. */
  push(text: string): void
  /** Scans the steps that are due. Returns the evaluation that denies the text, if one does. */
  scan(): MaybePromise<Evaluation | undefined>
  /** Scans between two steps, so that allowed text need not wait for the next one. Never denies. */
  earlyCheck(keptBack: number): MaybePromise<unknown>
  /** How many characters from the start may be sent. */
  cleared(): number
  /** Scans the steps still due and evaluates the whole block. Call once, after the last `push`. */
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

/** Characters held back after a clean scan, because a text often changes its meaning within a few words. */
const keptBackCharacters = 64
/** Steps that one scan covers at most if several are due. */
const maxStepsAtOnce = 32
/** Characters scanned between two yields to the event loop. */
const charactersPerYield = 64 * stepCharacters

export function createStreamScanner(parts: StreamScannerParts, wholeBlock?: WholeBlock): StreamScanner {
  const { plan, holdBack, evaluate, evaluateUncached, pause, incrementalScan } = parts
  const isWhole = holdBack.holdsWholeBlock || wholeBlock !== undefined
  const stepPlan: Plan = { ...plan, policies: holdBack.policies }
  const windows = createWindows()
  let text = ''
  let streamed: StreamedText | undefined
  let scannedTo = 0
  let cleared = 0
  /** Up to this position steps are scanned one by one. */
  let stepwiseTo = 0
  /** The strongest classification of all steps so far. */
  let known: Classification | undefined

  const longest = longestMatch(holdBack)
  const streamedText = (): StreamedText => (streamed ??= incrementalScan('response'))

  /** Scans consecutive windows at once. If the text is allowed, clears it except for `keptBack` characters. */
  function scanWindows(at: readonly [Span, ...Span[]], keptBack: number): MaybePromise<StepResult> {
    const { end } = at.at(-1) ?? at[0]
    // Covers what the previous scan did not see, and a match that began there.
    const start = Math.min(at[0].start, windows.startOf(text, at[0].end, longest + stepCharacters + longestWord))
    const texts: ScannedTexts = {
      texts: [text.slice(start, end)],
      direction: 'response',
      skipsPersonalData: !holdBack.waitsForPersonalData,
      mode: streamedText().scanPart({ text, start, end, windows: at }),
    }
    return andThen(evaluateUncached(stepPlan, texts), (evaluation) => {
      const isAllowed = !isDenied(evaluation.verdict) && !isNearThreshold(evaluation.findings, holdBack.blocking)
      if (isAllowed) cleared = Math.max(cleared, Math.min(end - keptBack, settledTo(end)))
      return { evaluation, isAllowed }
    })
  }

  function scan(): MaybePromise<Evaluation | undefined> {
    if (isWhole || text.length < scannedTo + stepCharacters) return undefined
    const maxSteps = text.length < scannedTo + 2 * stepCharacters || isStepwise() ? 1 : maxStepsAtOnce
    const range = { start: scannedTo, end: scannedTo + maxSteps * stepCharacters }
    const [first = windows.to(text, text.length), ...others] = windows.dueIn(text, range)
    const end = scannedTo + (1 + others.length) * stepCharacters
    return andThen(scanWindows([first, ...others], keptBackCharacters), ({ evaluation, isAllowed }) => {
      // Scores of step rules only rise as a text grows: if all steps together are allowed, so is each of them.
      if (!isAllowed && others.length > 0) {
        stepwiseTo = end
        return scan()
      }
      const isYieldDue = Math.floor(end / charactersPerYield) > Math.floor(scannedTo / charactersPerYield)
      scannedTo = end
      commit(evaluation)
      if (isDenied(evaluation.verdict)) return evaluation
      return isYieldDue ? pause().then(scan) : scan()
    })
  }

  /** True if steps must be scanned one by one, because scanned together they could give another verdict. */
  function isStepwise(): boolean {
    const farthest = scannedTo + maxStepsAtOnce * stepCharacters
    return (
      scannedTo < stepwiseTo ||
      (longest > 0 && dependsOnContext(text.slice(windows.startOf(text, scannedTo), farthest)))
    )
  }

  function commit({ findings }: Evaluation): void {
    streamedText().commit()
    const classification = classificationIn(findings)
    known = known === undefined ? classification : strongest(known, classification)
  }

  /** Text before this position can no longer become part of a match. */
  function settledTo(end: number): number {
    const settled = longest > 0 ? pendingStart(text, end, holdBack) : end
    return holdBack.waitsForPersonalData ? Math.min(settled, streamedText().settledTo()) : settled
  }

  return {
    push: (more) => void (text += more),
    scan,
    earlyCheck(keptBack) {
      if (!isWhole && cleared < text.length - keptBack) return scanWindows([windows.to(text, text.length)], keptBack)
      return undefined
    },
    cleared: () => cleared,
    end() {
      const whole = wholeBlock?.textOf?.(text) ?? text
      const evaluated = evaluate(plan, {
        texts: whole.trim() === '' ? [] : [whole],
        direction: 'response',
        mode: isWhole
          ? undefined
          : streamedText().scanWhole(text, {
              // Windows end at word boundaries, so a step that is due shortly after the range may end inside it.
              windowsIn: ({ start, end }) =>
                windows.dueIn(text, { start: Math.max(start, scannedTo), end: end + longestWord }),
              known,
            }),
      })
      return andThen(evaluated, (evaluation) => {
        const mayDifferInPart = isDenied(evaluation.verdict) || (!isWhole && longest > 0 && dependsOnContext(text))
        return andThen(mayDifferInPart ? firstDenial() : undefined, (denied) => {
          if (!isDenied((denied ?? evaluation).verdict)) cleared = Infinity
          return denied ?? evaluation
        })
      })
    },
  }

  /** If the whole text is denied, the first step that is denied gives the verdict, as it does in a slow stream. */
  function firstDenial(): MaybePromise<Evaluation | undefined> {
    stepwiseTo = text.length
    return scan()
  }
}

const longestMatch = ({ lookBehindLength, terms }: HoldBackPolicy): number =>
  Math.max(lookBehindLength, terms?.longest ?? 0)

/** Start of the text that may still become a match of a term, a rule or an encoded text. */
function pendingStart(text: string, end: number, holdBack: HoldBackPolicy): number {
  const { lookBehindLength, terms } = holdBack
  const scanned = text.slice(0, end)
  return Math.min(
    lookBehind(text, end, lookBehindLength),
    terms?.pendingStart(scanned, lookBehind(text, end, terms.longest)) ?? end,
    pendingEncodedStart(text, end, longestMatch(holdBack)),
  )
}

function classificationIn({ scores, categories: names }: Findings): Classification {
  return { scores, flagged: categories.filter((category) => names.includes(category)) }
}

type StepResult = {
  readonly evaluation: Evaluation
  /** Not denied, and not near a threshold either. */
  readonly isAllowed: boolean
}
