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

/** Consecutive evaluations yield to the event loop after this time. */
const sliceMs = 5

/**
 * Most evaluations take microseconds and run synchronously on the request thread. One that would take more than a few
 * milliseconds is stopped before its expensive step and restarted on a worker thread, because a single `matches` over a long
 * text cannot be interrupted. The result is the same.
 */
export function createBoundedCompiler({ clock, thread }: BoundedParts): CompileExpression {
  const compile = createCelCompiler()
  const slice = createLoopSlice(clock, sliceMs)
  return (expression, organizationId) => {
    const { evaluate, ...rest } = compile(expression)
    const evaluateBounded = (facts: RuleFacts): MaybePromise<ExpressionResult> => {
      if (slice.isUsedUp()) return afterIo().then(() => evaluateBounded(facts))
      const result = evaluate(facts, requestThreadUnits)
      const isTooExpensive = 'failed' in result && result.failed === 'expression_cost'
      return isTooExpensive ? thread.evaluate({ expression, facts, organizationId }) : result
    }
    return { ...rest, evaluate: evaluateBounded }
  }
}
