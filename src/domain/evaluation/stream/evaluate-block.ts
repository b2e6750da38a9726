import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { Evaluation } from '../evaluate.ts'
import { unstreamedMode } from '../../scan/stream/stream-modes.ts'
import { isDenied } from '../verdict/combine.ts'
import {
  classifiedResponse,
  createProseScanner,
  createStreamScanner,
  mayFoldDifferently,
  type StreamScanner,
  type StreamScannerParts,
  type WholeBlock,
} from './stream-scanner.ts'

export type EvaluatedBlock = Pick<StreamScanner, 'wasHeldWhole'> & { readonly evaluation: Evaluation }

/**
 * Evaluates a block of a response that is complete. Its verdict is that of the same text in a stream. Most prose is read once and
 * needs no stream scanner.
 */
export function evaluateBlock(
  parts: StreamScannerParts,
  text: string,
  wholeBlock?: WholeBlock,
): MaybePromise<EvaluatedBlock> {
  const mode = wholeBlock === undefined ? plainMode(parts, text) : undefined
  if (mode === undefined) return streamBlock(parts, text, wholeBlock)
  const evaluated = parts.evaluate(parts.plan, { texts: [text], direction: 'response', mode })
  return andThen(evaluated, (evaluation) =>
    isDenied(evaluation.verdict) ? firstDenialIn(parts, text, evaluation) : { evaluation, wasHeldWhole: never },
  )
}

const never = (): boolean => false

const plainMode = (parts: StreamScannerParts, text: string) =>
  text.trim() === '' || mayFoldDifferently(text, parts.holdBack)
    ? undefined
    : unstreamedMode(text, classifiedResponse(parts))

function streamBlock(
  parts: StreamScannerParts,
  text: string,
  wholeBlock: WholeBlock | undefined,
): MaybePromise<EvaluatedBlock> {
  const scanner = createStreamScanner(parts, wholeBlock)
  scanner.push(text)
  return andThen(scanner.end(), (evaluation) => ({ evaluation, wasHeldWhole: scanner.wasHeldWhole }))
}

/** If the whole text is denied, the first decision point at which it is denied gives the verdict, as it does in a stream. */
async function firstDenialIn(parts: StreamScannerParts, text: string, whole: Evaluation): Promise<EvaluatedBlock> {
  const scanner = createProseScanner(parts)
  scanner.push(text)
  return { evaluation: (await scanner.firstDenial()) ?? whole, wasHeldWhole: scanner.wasHeldWhole }
}
