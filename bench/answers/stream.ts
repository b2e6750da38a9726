import { createEvaluate } from '../../src/domain/evaluation/evaluate.ts'
import { planFor } from '../../src/domain/evaluation/plan.ts'
import { emptyRulebook } from '../../src/domain/evaluation/rulebook.ts'
import { createStreamScanner, type StreamScannerParts } from '../../src/domain/evaluation/stream/stream-scanner.ts'
import { isDenied } from '../../src/domain/evaluation/verdict/combine.ts'
import type { Classifier } from '../../src/domain/scan/classify/classifier.ts'
import { createScanText } from '../../src/domain/scan/scan.ts'
import { plainContext } from '../../test/support/evaluation-context.ts'
import { holdBackPolicyOf, prefilterOf } from '../../test/support/policy-prefilter.ts'
import type { PacedClock } from './paced-clock.ts'

export type StreamedAnswer = {
  readonly isDenied: boolean
  /** How late each word left. */
  readonly latesMs: readonly number[]
  /** Words after which text was held back, although the word before was complete, and all words after the opening. */
  readonly held: number
  readonly points: number
}

const wordMs = 50
/** Every stream waits for its first words, so they do not count as held. */
const openingWords = 5

export async function streamAnswer(
  classifier: Classifier,
  answer: string,
  { clock, settled, advanceTo }: PacedClock,
): Promise<StreamedAnswer> {
  using scanner = createStreamScanner(scannerParts(classifier))
  const words = Array.from(answer.matchAll(/\s*\S+/g), ([word]) => word)
  const startMs = clock.monotonicMs()
  const waiting: { readonly end: number; readonly arrivedMs: number }[] = []
  const latesMs: number[] = []
  let end = 0
  let held = 0

  function send(): void {
    const left = waiting.findIndex((word) => word.end > scanner.cleared())
    for (const { arrivedMs } of waiting.splice(0, left === -1 ? waiting.length : left))
      latesMs.push(clock.monotonicMs() - arrivedMs)
  }

  for (const [at, word] of words.entries()) {
    const arrivedMs = startMs + at * wordMs
    await advanceTo(arrivedMs)
    const complete = end
    end += word.length
    waiting.push({ end, arrivedMs })
    scanner.push(word)
    if ((await settled(scanner.scan())) !== undefined) return { isDenied: true, latesMs, held, points: at }
    send()
    if (at >= openingWords && scanner.cleared() < complete) held += 1
  }
  const { verdict } = await settled(scanner.end())
  send()
  return { isDenied: isDenied(verdict), latesMs, held, points: Math.max(0, words.length - openingWords) }
}

function scannerParts(classifier: Classifier): StreamScannerParts {
  const pause = async (): Promise<void> => {}
  const plan = planFor(emptyRulebook, plainContext)
  const evaluate = createEvaluate({
    scanText: createScanText({ classifier, pause, cacheEntries: 0 }),
    pause,
    canRephrase: false,
    failsOpen: false,
    cacheEntries: 0,
    prefilterOf,
  })
  return {
    plan,
    holdBack: holdBackPolicyOf(plan, false),
    evaluate,
    evaluateUncached: evaluate,
    pause,
    classifier,
  }
}
