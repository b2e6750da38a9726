import type { CompileRule, LookBehind, RuleEvaluator, RuleName } from './compiled-rule.ts'
import { initialContent } from './content.ts'
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

export type InspectRule = (rule: string, organizationId: string) => RuleInspection

type InspectRuleParts = { readonly checkExpression: CheckExpression; readonly compileRule: CompileRule }

/** Checks and compiles a rule with the functions that saving and requests use. Evaluates nothing. */
export function createInspectRule({ checkExpression, compileRule }: InspectRuleParts): InspectRule {
  return (rule, organizationId) => {
    const form = expressionOf(rule) === undefined ? 'plain' : 'cel'
    const problem = problemOfRule(rule, checkExpression)
    if (problem) return { form, evaluator: undefined, names: [], lookBehind: undefined, problems: [problem] }
    const { evaluator, names, lookBehind } = compileRule({
      rule,
      versionId: 'inspected',
      organizationId,
      judgeWindow: initialContent.judgeWindow,
    })
    return { form, evaluator, names, lookBehind, problems: [] }
  }
}
