import type { Clock } from '../../base/clock.ts'
import { afterIo } from '../../base/after-io.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { createLoopSlice } from '../../base/loop-slice.ts'
import type { CompileExpression, ExpressionResult } from '../../domain/policy/expression.ts'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createCelCompiler } from './cel.ts'
import { requestThreadUnits } from './cost-budget.ts'
import type { ExpressionThread } from './thread.ts'

export type BoundedParts = { readonly clock: Clock; readonly thread: Pick<ExpressionThread, 'evaluate'> }

/** Evaluations that follow one another let others be served after this long. */
const sliceMs = 5

/**
 * Most evaluations take some microseconds and end where they were asked for, in a plain call. One that would cost more
 * than a few milliseconds is given up before its expensive step, and begins again on a thread of its own: a single
 * `matches` over a long text cannot be interrupted. The result is the same.
 */
export function createBoundedCompiler({ clock, thread }: BoundedParts): CompileExpression {
  const compile = createCelCompiler()
  const slice = createLoopSlice(clock, sliceMs)
  return (expression, organizationId) => {
    const { lookBehind, evaluate } = compile(expression)
    const evaluateHere = (facts: RuleFacts): MaybePromise<ExpressionResult> => {
      if (slice.isUsedUp()) return afterIo().then(() => evaluateHere(facts))
      const result = evaluate(facts, requestThreadUnits)
      const isTooLong = 'failed' in result && result.failed === 'expression_cost'
      return isTooLong ? thread.evaluate({ expression, facts, organizationId }) : result
    }
    return { lookBehind, evaluate: evaluateHere }
  }
}
