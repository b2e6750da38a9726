import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { CompileRule, LookBehind, RuleEvaluator, RuleName } from './compiled-rule.ts'
import { initialContent } from './content.ts'
import type { RuleJudge } from './judge.ts'
import { expressionOf, problemOfRule, type CheckExpression, type ExpressionProblem } from './rule.ts'

/** How a rule would be read and evaluated, before it is saved. */
export type RuleInspection = {
  readonly form: 'cel' | 'plain'
  /** Undefined if nothing can evaluate the rule, or if it has problems. */
  readonly evaluator: RuleEvaluator | undefined
  readonly names: readonly RuleName[]
  /** Undefined if the rule has problems. */
  readonly lookBehind: LookBehind | undefined
  readonly problems: readonly ExpressionProblem[]
}

export type InspectRule = (rule: string, organizationId: string) => Promise<RuleInspection>

type InspectRuleParts = {
  readonly checkExpression: CheckExpression
  readonly compileRule: CompileRule
  readonly judgeOf: (organizationId: string) => MaybePromise<RuleJudge | undefined>
}

/** Checks and compiles a rule with the functions that saving and requests use. Evaluates nothing. */
export function createInspectRule({ checkExpression, compileRule, judgeOf }: InspectRuleParts): InspectRule {
  return async (rule, organizationId) => {
    const form = expressionOf(rule) === undefined ? 'plain' : 'cel'
    const problem = problemOfRule(rule, checkExpression)
    if (problem) return { form, evaluator: undefined, names: [], lookBehind: undefined, problems: [problem] }
    const { evaluator, names, lookBehind } = compileRule({
      rule,
      versionId: 'inspected',
      organizationId,
      judgeWindow: initialContent.judgeWindow,
      judge: await judgeOf(organizationId),
    })
    return { form, evaluator, names, lookBehind, problems: [] }
  }
}
