import { sequentially } from '../../../base/maybe-promise.ts'
import type { Evaluate, Evaluation } from '../evaluate.ts'
import { addFindings, noFindings, type Findings } from '../findings.ts'
import type { EvaluateResponse } from '../simulate.ts'
import { locatedTexts } from '../texts/request-texts.ts'
import { combine, isDenied, mergeDecisions, type Decision } from '../verdict/combine.ts'
import type { HoldBackPolicyOf } from './hold-back-policy.ts'
import { evaluateBlock } from './evaluate-block.ts'
import type { StreamScannerParts } from './stream-scanner.ts'

export type EvaluateResponseParts = Omit<StreamScannerParts, 'plan' | 'holdBack'> & {
  readonly holdBackPolicyOf: HoldBackPolicyOf
}

/**
 * Evaluates a complete response block by block. Like a stream it ends at the first denial. Its
 * request is assumed to be clean: after a request near a threshold, whole blocks would be held back.
 */
export function createEvaluateResponse(parts: EvaluateResponseParts): EvaluateResponse {
  return async (plan, { request, categories }) => {
    const givenCategories = categories.length === 0 ? undefined : categories
    const giving =
      (evaluate: Evaluate): Evaluate =>
      (ofPlan, texts) =>
        evaluate(ofPlan, { ...texts, givenCategories })
    const scannerParts = {
      ...parts,
      plan,
      holdBack: parts.holdBackPolicyOf(plan, false),
      evaluate: giving(parts.evaluate),
      evaluateUncached: giving(parts.evaluateUncached),
    }
    const decisions: Decision[] = []
    const offendingTexts: string[] = []
    let findings: Findings = noFindings
    let isStopped = false
    const add = (evaluation: Evaluation): void => {
      decisions.push(...evaluation.verdict.decisions)
      offendingTexts.push(...evaluation.offendingTexts)
      findings = addFindings(findings, evaluation.findings)
      isStopped = isDenied(evaluation.verdict)
    }
    await sequentially(request === undefined ? [] : locatedTexts(request), async ({ text, isProse }) => {
      if (isStopped) return
      const { evaluation } = await evaluateBlock(scannerParts, text, isProse ? undefined : {})
      add(evaluation)
    })
    return { verdict: combine(mergeDecisions([], decisions)), findings, offendingTexts }
  }
}
