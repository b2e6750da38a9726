import { setImmediate } from 'node:timers/promises'
import { createExplainExpression } from '../adapters/cel/explain.ts'
import { createInjectionDetector } from '../adapters/injection/detector.ts'
import { re2Patterns } from '../adapters/patterns/re2.ts'
import { createEvaluate, type EvaluateParts } from '../domain/evaluation/evaluate.ts'
import { createFindEvidence } from '../domain/evaluation/evidence.ts'
import { createPolicyPrefilters } from '../domain/evaluation/scan/policy-prefilter.ts'
import { createSimulate, type SimulateParts } from '../domain/evaluation/simulate.ts'
import { createEvaluateResponse } from '../domain/evaluation/stream/evaluate-response.ts'
import { createHoldBackPolicies } from '../domain/evaluation/stream/hold-back-policy.ts'
import { createExplain } from '../domain/explanation/explain.ts'
import type { Classifier } from '../domain/scan/classify/classifier.ts'
import { createScanText } from '../domain/scan/scan.ts'

type SimulationParts = Pick<SimulateParts, 'rulebookOf' | 'compileRule' | 'clock'> &
  Pick<EvaluateParts, 'canRephrase' | 'failsOpen'> & { readonly classifier: Classifier }

const pause = (): Promise<void> => setImmediate()

/** Evaluation without caches: its texts are not those of requests, and its timings are of a text that is seen for the first time. */
export function createSimulation({ rulebookOf, compileRule, clock, classifier, ...parts }: SimulationParts) {
  const prefilterOf = createPolicyPrefilters(re2Patterns)
  const holdBackPolicyOf = createHoldBackPolicies(prefilterOf)
  const injectionDetector = createInjectionDetector()
  const scanText = createScanText({ classifier, injectionDetector, pause, cacheEntries: 0 })
  const uncached = { ...parts, pause, prefilterOf, scanText, cacheEntries: 0 }
  const evaluateUncached = createEvaluate({ ...uncached, reportsDenialsOnly: true })
  const evaluate = createEvaluate(uncached)
  const evaluateResponse = createEvaluateResponse({
    ...uncached,
    classifier,
    evaluate,
    evaluateUncached,
    holdBackPolicyOf,
  })
  const findEvidence = createFindEvidence({ evaluate, scanText, patterns: re2Patterns })
  const rules = { evaluate, evaluateResponse, compileRule, patterns: re2Patterns }
  return {
    pause,
    injectionDetector,
    prefilterOf,
    holdBackPolicyOf,
    evaluateUncached,
    /** Also reports decisions that allow a text. */
    evaluateAll: evaluate,
    simulate: createSimulate({ ...rules, rulebookOf, clock }),
    findEvidence,
    explain: createExplain({
      ...rules,
      scanText,
      findEvidence,
      explainExpression: createExplainExpression(),
      classifier: classifier.identity,
    }),
  }
}
