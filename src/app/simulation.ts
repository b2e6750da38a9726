import { re2Patterns } from '../adapters/patterns/re2.ts'
import type { Evaluate } from '../domain/evaluation/evaluate.ts'
import { createFindEvidence } from '../domain/evaluation/evidence.ts'
import { createSimulate, type SimulateParts } from '../domain/evaluation/simulate.ts'
import { createEvaluateResponse, type EvaluateResponseParts } from '../domain/evaluation/stream/evaluate-response.ts'
import type { ScanText } from '../domain/scan/scan.ts'

type SimulationParts = Pick<SimulateParts, 'rulebookOf' | 'compileRule' | 'clock'> &
  Omit<EvaluateResponseParts, 'evaluate'> & {
    readonly scanText: ScanText
    /** Also reports decisions that allow a text. */
    readonly evaluateAll: Evaluate
  }

/** Without caches: its texts are not those of requests, and its timings are of a text that is seen for the first time. */
export function createSimulation(parts: SimulationParts) {
  const { scanText, evaluateAll: evaluate, rulebookOf, compileRule, clock } = parts
  const evaluateResponse = createEvaluateResponse({ ...parts, evaluate })
  return {
    simulate: createSimulate({ evaluate, evaluateResponse, rulebookOf, compileRule, clock, patterns: re2Patterns }),
    findEvidence: createFindEvidence({ evaluate, scanText, patterns: re2Patterns }),
  }
}
