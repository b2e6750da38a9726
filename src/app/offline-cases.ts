import { createBoundedCompiler } from '../adapters/cel/bounded.ts'
import { createCelChecker } from '../adapters/cel/cel.ts'
import { createExpressionThread } from '../adapters/cel/thread.ts'
import { createEmbeddedClassifier } from '../adapters/classifiers/embedded/classifier.ts'
import { systemClock } from '../base/clock.ts'
import { re2Patterns } from '../adapters/patterns/re2.ts'
import {
  createRunCases,
  createRunGatewayCases,
  isMet,
  type CaseResult,
  type GatewayCaseResult,
} from '../domain/cases/run.ts'
import { withDefaults, type GivenConfiguration } from '../domain/gateway-config/complete.ts'
import { requireTerms } from '../domain/gateway-config/terms.ts'
import { emptyRulebook } from '../domain/evaluation/rulebook.ts'
import {
  contentChanges,
  contentWith,
  initialContent,
  thresholdOf,
  type PolicyContentPatch,
} from '../domain/policy/content.ts'
import { createRuleCompiler } from '../domain/policy/rule-compiler.ts'
import { isEvaluable, problemOfRule, type ExpressionProblem } from '../domain/policy/rule.ts'
import { expectationOf } from '../http/admin/policies/case-schema.ts'
import { scenarioDecoder } from '../http/resources/scenario.ts'
import { createDecodeBody } from './caller-formats.ts'
import type { FileCase, GatewayFileCase } from './client/file-cases.ts'
import { problemsOf, type FileProblem } from './client/file-problems.ts'
import { createSimulation } from './simulation.ts'

/** The result of a case of a file. */
export type FileCaseResult = Omit<CaseResult, 'caseId'>
export type GatewayFileCaseResult = Omit<GatewayCaseResult, 'caseId'>

export type OfflineCases = AsyncDisposable & {
  /** The error in a rule that is an invalid expression. */
  problemOf(rule: string): ExpressionProblem | undefined
  run(content: PolicyContentPatch, cases: readonly FileCase[]): Promise<readonly FileCaseResult[]>
  /** Evaluates the gateway configuration. */
  runGateway(config: GivenConfiguration, cases: readonly GatewayFileCase[]): Promise<readonly GatewayFileCaseResult[]>
}

/** Invalid terms of a gateway configuration. */
export const gatewayProblems = (config: GivenConfiguration): FileProblem[] =>
  problemsOf(() => requireTerms(config, re2Patterns))

/** Whether a rule needs no judge model. */
export const isEvaluableOffline = isEvaluable

/** The result of a case whose score is known. */
export function resultOfScore(fields: PolicyContentPatch, each: FileCase, score: number): FileCaseResult {
  const threshold = thresholdOf(contentWith(initialContent, contentChanges(fields)))
  const got = score >= threshold ? 'match' : 'no_match'
  const state = isMet(expectationOf(each.expect), { got, score }) ? 'passed' : 'failed'
  return { state, got, score, reason: undefined, ms: 0 }
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
    canRephrase: true, // a configuration that rewrites texts is meant for a server with a judge model
    failsOpen: false,
  })
  const runCases = createRunCases({ simulate, clock })
  const runGatewayCases = createRunGatewayCases({ simulate, clock })
  const scenarioOf = scenarioDecoder(createDecodeBody(), 'offline')
  const checkExpression = createCelChecker()
  return {
    problemOf: (rule) => problemOfRule(rule, checkExpression),
    run(fields, cases) {
      const content = contentWith(initialContent, contentChanges(fields))
      const policy = { id: 'policy', name: undefined, version: undefined, content }
      const runnable = cases.map(({ says, given, expect }) => ({ id: says, given, expected: expectationOf(expect) }))
      return runCases({ organizationId: '', policy, cases: runnable, scenarioOf, usesJudge: false })
    },
    runGateway(given, cases) {
      const runnable = cases.map(({ says, given: input, expect }) => ({ id: says, given: input, expected: expect }))
      return runGatewayCases({ organizationId: '', config: withDefaults(given), cases: runnable, scenarioOf })
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}
