import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { noClassification } from '../../scan/classify/classifier.ts'
import type { ScanMode } from '../../scan/scan.ts'
import { judgeWindowFrom, maxJudgeWindows, type JudgeTextWindow } from '../../policy/judge-windows.ts'
import type { Evaluation } from '../evaluate.ts'
import type { Plan } from '../plan.ts'
import { isDenied } from '../verdict/combine.ts'
import type { StreamRulesParts } from './stream-rules.ts'

/** Evaluates the windows of a streamed text for judges that work by paragraph, each as soon as it is complete. */
export type JudgedWindows = {
  /** Evaluates all windows of the text that are complete, up to the first that is denied. */
  evaluateDue(text: string): MaybePromise<void>
  /** The judges allow the text up to this position. */
  judgedTo(): number
  /** The judges have allowed the text up to this position elsewhere. The next window begins there. */
  skipTo(position: number): void
  /**
   * The denial of a window that is complete before this position. A caller that asks at every decision point gets it at the same
   * one, however the text was cut into chunks.
   */
  denialBefore(position: number): Evaluation | undefined
  /** True if the text has too many windows: the rest of it waits for its end. */
  holdsRest(): boolean
}

export function createJudgedWindows({ plan, holdBack, evaluateUncached }: StreamRulesParts): JudgedWindows {
  const { windowed } = holdBack
  if (windowed.response.length === 0) return noWindows
  const windowPlan: Plan = { ...plan, gateway: { ...plan.gateway, terms: undefined }, policies: windowed }
  let windows = 0
  let judgedTo = 0
  let denial: { readonly knownAt: number; readonly evaluation: Evaluation } | undefined

  function evaluateDue(text: string): MaybePromise<void> {
    const isOver = denial !== undefined || windows === maxJudgeWindows
    const window = isOver ? undefined : judgeWindowFrom(text, judgedTo)
    if (window === undefined) return undefined
    const { start, end } = window
    const evaluated = evaluateUncached(windowPlan, {
      texts: [text.slice(start, end)],
      direction: 'response',
      skipsPersonalData: true,
      mode: judgeOnly,
    })
    return andThen(evaluated, (evaluation) => {
      onEvaluated(window, evaluation)
      return evaluateDue(text)
    })
  }

  function onEvaluated({ end, knownAt }: JudgeTextWindow, evaluation: Evaluation): void {
    if (isDenied(evaluation.verdict)) denial = { knownAt, evaluation }
    else judgedTo = end
    windows += 1
  }

  return {
    evaluateDue,
    judgedTo: () => judgedTo,
    skipTo: (position) => void (judgedTo = position),
    denialBefore: (position) => (denial !== undefined && denial.knownAt < position ? denial.evaluation : undefined),
    holdsRest: () => windows === maxJudgeWindows,
  }
}

/** For a plan without such judges. */
const noWindows: JudgedWindows = {
  evaluateDue: () => undefined,
  judgedTo: () => Infinity,
  skipTo: () => undefined,
  denialBefore: () => undefined,
  holdsRest: () => false,
}

/** Everything else is scanned in the text as a whole. */
const judgeOnly: ScanMode = {
  name: 'judge only',
  classify: () => noClassification,
  encodedTexts: () => [],
  personalData: () => [],
}
