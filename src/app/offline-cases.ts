import { createBoundedCompiler } from '../adapters/cel/bounded.ts'
import { createCelChecker } from '../adapters/cel/cel.ts'
import { createExpressionThread } from '../adapters/cel/thread.ts'
import { createEmbeddedClassifier } from '../adapters/classifiers/embedded/classifier.ts'
import { systemClock } from '../base/clock.ts'
import { createRunCases, type CaseResult, type CaseRun } from '../domain/cases/run.ts'
import { emptyRulebook } from '../domain/evaluation/rulebook.ts'
import { contentChanges, contentWith, initialContent, type PolicyContentPatch } from '../domain/policy/content.ts'
import { createRuleCompiler } from '../domain/policy/rule-compiler.ts'
import { problemOfRule, type ExpressionProblem } from '../domain/policy/rule.ts'
import { scenarioDecoder } from '../http/resources/scenario.ts'
import { createDecodeBody } from './caller-formats.ts'
import { createSimulation } from './simulation.ts'

export type OfflineCases = AsyncDisposable & {
  /** The error in a rule that is an invalid expression. */
  problemOf(rule: string): ExpressionProblem | undefined
  run(content: PolicyContentPatch, cases: CaseRun['cases']): Promise<readonly CaseResult[]>
}

/** The default of `policies.expression_time_ms`. */
const expressionTimeMs = 250

/**
 * Evaluates rules that need no server: expressions and phrases, with the first stage of the embedded classifier. Rules that a
 * judge model evaluates are not evaluated.
 */
export function openOfflineCases(): OfflineCases {
  const clock = systemClock
  const thread = createExpressionThread({ clock, limitMs: expressionTimeMs })
  const compileRule = createRuleCompiler({
    compileExpression: createBoundedCompiler({ clock, thread }),
    judge: undefined,
  })
  const { simulate } = createSimulation({
    classifier: createEmbeddedClassifier(),
    rulebookOf: () => emptyRulebook,
    compileRule,
    clock,
    canRephrase: false,
    failsOpen: false,
  })
  const runCases = createRunCases({ simulate, clock })
  const scenarioOf = scenarioDecoder(createDecodeBody(), 'offline')
  const checkExpression = createCelChecker()
  return {
    problemOf: (rule) => problemOfRule(rule, checkExpression),
    run(fields, cases) {
      const content = contentWith(initialContent, contentChanges(fields))
      const policy = { id: 'policy', name: undefined, version: undefined, content }
      return runCases({ organizationId: '', policy, cases, scenarioOf, usesJudge: false })
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}
