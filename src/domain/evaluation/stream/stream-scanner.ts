import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { categories } from '../../moderation/categories.ts'
import { pendingEncodedStart } from '../../moderation/pending-encoded-text.ts'
import { strongest, type Classification } from '../../moderation/classifier.ts'
import { isReadByContext, type Span } from '../../moderation/normalise.ts'
import type { StreamedText, IncrementalScan } from '../../moderation/incremental-scan.ts'
import { longestWord } from '../../moderation/word-end.ts'
import type { Evaluation, Evaluate } from '../findings/evaluate.ts'
import type { Findings } from '../findings/findings.ts'
import { isNearThreshold, type HoldBack } from './hold-back.ts'
import type { ScannedTexts } from '../findings/collect-findings.ts'
import { isDenied } from '../verdict/outcome.ts'
import type { Plan } from '../rules/plan.ts'
import { lookBehind } from './look-behind.ts'
import { createWindows, stepCharacters } from './windows.ts'

/**
 * Reads along with one block of an answer and says how much of it may leave. Where it looks depends on the text alone,
 * never on how it was cut into pieces: a streamed answer and a whole one get the same verdict.
 */
export type StreamScanner = {
  /** Takes more of the text. */
  push(piece: string): void
  /** Makes the checks that are due. Answers the examination that denies the text, if one does. */
  check(): MaybePromise<Evaluation | undefined>
  /** Looks between two checks, so that what is fit to leave need not wait for more. This never denies anything. */
  lookAhead(keptBack: number): MaybePromise<unknown>
  /** How many characters from the beginning may leave. */
  cleared(): number
  /** The judgement of the whole text, with the checks that were still due; the follower is then done. */
  end(): MaybePromise<Evaluation>
}

/** A place in a text that is followed. */
export type Mark = { readonly follower: StreamScanner; readonly mark: number }

/** Whether all before that place may leave. */
export const isCleared = (mark: Mark | undefined): boolean => mark === undefined || mark.follower.cleared() >= mark.mark

export type StreamScannerParts = {
  readonly plan: Plan
  readonly holding: HoldBack
  readonly examine: Evaluate
  /** The same judgement without remembering it: pieces of a text are seen once. */
  readonly glance: Evaluate
  /** Lets others run while a long text is read at once. */
  readonly pause: () => Promise<unknown>
  readonly readAlong: IncrementalScan
}

/** A block that is no prose: all of it must be there before any of it may leave. */
export type WholeBlock = {
  /** What is judged of it, where that is not the text itself. */
  readonly read?: (text: string) => string
}

/** So much of what was checked is held back all the same: a text often turns within a few words. */
const keptBackCharacters = 64
/** So many checks are made in one look where more than one is due. */
const mostAtOnce = 32
/** So much is read before others get their turn. */
const turnCharacters = 64 * stepCharacters

export function createStreamScanner(parts: StreamScannerParts, special?: WholeBlock): StreamScanner {
  const { plan, holding, examine, glance, pause, readAlong } = parts
  const isWhole = holding.isWhole || special !== undefined
  const stepPlan: Plan = { ...plan, policies: holding.policies }
  const windows = createWindows()
  let text = ''
  let growing: StreamedText | undefined
  let checked = 0
  let cleared = 0
  /** Up to here checks are made one by one. */
  let waryTo = 0
  /** The strongest of what the checks found. */
  let known: Classification | undefined

  const longest = longestMatch(holding)
  const alongside = (): StreamedText => (growing ??= readAlong('response'))

  /** Makes one look of some windows in a row. Keeps a number of characters back where the text is fit to leave. */
  function look(at: readonly [Span, ...Span[]], keptBack: number): MaybePromise<Looked> {
    const { end } = at.at(-1) ?? at[0]
    // What the look before did not see, and a match that had begun there.
    const start = Math.min(at[0].start, windows.startOf(text, at[0].end, longest + stepCharacters + longestWord))
    const texts: ScannedTexts = {
      texts: [text.slice(start, end)],
      direction: 'response',
      skipsPersonalData: !holding.personalData,
      reading: alongside().readPart({ text, start, end, windows: at }),
    }
    return andThen(glance(stepPlan, texts), (examination) => {
      const isFit = !isDenied(examination.verdict) && !isNearThreshold(examination.findings, holding.blocking)
      if (isFit) cleared = Math.max(cleared, Math.min(end - keptBack, settledAt(end)))
      return { examination, isFit }
    })
  }

  function check(): MaybePromise<Evaluation | undefined> {
    if (isWhole || text.length < checked + stepCharacters) return undefined
    const most = text.length < checked + 2 * stepCharacters || isWary() ? 1 : mostAtOnce
    const stretch = { start: checked, end: checked + most * stepCharacters }
    const [first = windows.to(text, text.length), ...others] = windows.dueIn(text, stretch)
    const checkedTo = checked + (1 + others.length) * stepCharacters
    return andThen(look([first, ...others], keptBackCharacters), ({ examination, isFit }) => {
      // All rules for a growing text rise with it: what stands against none of it stands against no part of it.
      if (!isFit && others.length > 0) {
        waryTo = checkedTo
        return check()
      }
      const isTurnOver = Math.floor(checkedTo / turnCharacters) > Math.floor(checked / turnCharacters)
      checked = checkedTo
      keep(examination)
      if (isDenied(examination.verdict)) return examination
      return isTurnOver ? pause().then(check) : check()
    })
  }

  /** Whether checks are made one by one, since together they might say something else. */
  function isWary(): boolean {
    const farthest = checked + mostAtOnce * stepCharacters
    return checked < waryTo || (longest > 0 && isReadByContext(text.slice(windows.startOf(text, checked), farthest)))
  }

  function keep({ findings }: Evaluation): void {
    alongside().keep()
    const found = classificationIn(findings)
    known = known === undefined ? found : strongest(known, found)
  }

  /** Behind this place nothing can still become a match that began before it. */
  function settledAt(seen: number): number {
    const settled = longest > 0 ? unmatchedTo(text, seen, holding) : seen
    return holding.personalData ? Math.min(settled, alongside().settledTo()) : settled
  }

  return {
    push: (piece) => void (text += piece),
    check,
    lookAhead(keptBack) {
      if (!isWhole && cleared < text.length - keptBack) return look([windows.to(text, text.length)], keptBack)
      return undefined
    },
    cleared: () => cleared,
    end() {
      const whole = special?.read?.(text) ?? text
      const judged = examine(plan, {
        texts: whole.trim() === '' ? [] : [whole],
        direction: 'response',
        reading: isWhole
          ? undefined
          : alongside().readWhole(text, {
              // Words are complete where a check looks: one that is due a little behind the stretch may end in it.
              windowsIn: ({ start, end }) =>
                windows.dueIn(text, { start: Math.max(start, checked), end: end + longestWord }),
              known,
            }),
      })
      return andThen(judged, (examination) => {
        const mayDifferInPart = isDenied(examination.verdict) || (!isWhole && longest > 0 && isReadByContext(text))
        return andThen(mayDifferInPart ? firstDenied() : undefined, (denied) => {
          if (!isDenied((denied ?? examination).verdict)) cleared = Infinity
          return denied ?? examination
        })
      })
    },
  }

  /** What stands against all of a text may stand against a part of it already; then that is its verdict. */
  function firstDenied(): MaybePromise<Evaluation | undefined> {
    waryTo = text.length
    return check()
  }
}

const longestMatch = ({ reach, terms }: HoldBack): number => Math.max(reach, terms?.longest ?? 0)

/** Where in a growing text begins what may still become a match of words, of any of those that are looked for. */
function unmatchedTo(text: string, seen: number, holding: HoldBack): number {
  const { reach, terms } = holding
  const before = text.slice(0, seen)
  return Math.min(
    lookBehind(text, seen, reach),
    terms?.pendingStart(before, lookBehind(text, seen, terms.longest)) ?? seen,
    pendingEncodedStart(text, seen, longestMatch(holding)),
  )
}

function classificationIn({ scores, categories: found }: Findings): Classification {
  return { scores, flagged: categories.filter((category) => found.includes(category)) }
}

type Looked = {
  readonly examination: Evaluation
  /** It is not denied, and not close to it. */
  readonly isFit: boolean
}
