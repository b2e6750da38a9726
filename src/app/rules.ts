import { createBoundedCompiler } from '../adapters/cel/bounded.ts'
import { createCelChecker } from '../adapters/cel/cel.ts'
import { createExpressionThread } from '../adapters/cel/thread.ts'
import type { Rephrase } from '../domain/evaluation/verdict/rephrase.ts'
import type { CompileRule } from '../domain/policy/compiled-rule.ts'
import { createInspectRule, type InspectRule } from '../domain/policy/inspect-rule.ts'
import { createRuleCompiler } from '../domain/policy/rule-compiler.ts'
import { openClassifier, type OpenClassifier } from './classifier.ts'
import type { Infrastructure } from './infrastructure.ts'
import { openJudges, type OpenJudges } from './judges.ts'
import type { Stores } from './stores.ts'
import type { ServedModels } from './upstreams/models.ts'

export type Rules = OpenClassifier & {
  readonly compileRule: CompileRule
  readonly inspectRule: InspectRule
  readonly judges: OpenJudges
  /** Undefined if no judge is configured; a text that a rule would have rephrased is then rejected. */
  readonly rephrase: Rephrase | undefined
  /** A text passes if the judge did not answer for a rule. */
  readonly failsOpen: boolean
}

/** The classifier, the compiler of rules, and the models that evaluate rules in plain language and rephrase texts. */
export async function createRules(
  infrastructure: Infrastructure,
  stores: Stores,
  served: ServedModels,
): Promise<Rules> {
  const { built, clock, config } = infrastructure
  const { judge: settings, expression_time_ms: limitMs } = config.policies
  const judges = openJudges(infrastructure, stores, served)
  const thread = built.use(createExpressionThread({ clock, limitMs }))
  const compileExpression = createBoundedCompiler({ clock, thread })
  const compileRule = createRuleCompiler({ compileExpression, judge: judges.fileJudge })
  const { judgeOf } = judges
  return {
    ...(await openClassifier(infrastructure)),
    compileRule,
    inspectRule: createInspectRule({ checkExpression: createCelChecker(), compileRule, judgeOf }),
    judges,
    rephrase: judges.rephrase,
    failsOpen: settings?.fail === 'open',
  }
}
