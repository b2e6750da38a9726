import type { Evaluate } from '../evaluation/evaluate.ts'
import { injectionFacts } from '../evaluation/findings.ts'
import { classificationReader, type Plan } from '../evaluation/plan.ts'
import type { ActivePolicy } from '../evaluation/rulebook.ts'
import { locatedTexts, type LocatedText } from '../evaluation/texts/request-texts.ts'
import type { DecidingPart, ExplainExpression } from '../policy/expression.ts'
import { expressionOf, type RuleFacts } from '../policy/rule.ts'
import { countByKind } from '../scan/detect/personal-data/kinds.ts'
import type { ScanText } from '../scan/scan.ts'
import type { ExplanationEvidence } from './explanation.ts'
import { versionKey, type EvaluatedRules } from './recorded-outcomes.ts'
import type { RerunEvaluation } from './rerun.ts'

export type ExpressionEvidenceParts = {
  readonly evaluate: Evaluate
  readonly scanText: ScanText
  readonly explainExpression: ExplainExpression
}

/** A long chat is searched up to here for the text that an expression matched. */
const maxTexts = 100

type Matched = { readonly plan: Plan; readonly evaluation: RerunEvaluation; readonly rules: EvaluatedRules }

/** The parts of each matching expression that decided, on the first text that it matches. */
export function createExpressionEvidence({ evaluate, scanText, explainExpression }: ExpressionEvidenceParts) {
  return async ({ plan, evaluation, rules }: Matched): Promise<readonly ExplanationEvidence[]> => {
    const { direction } = evaluation.scenario
    const matched = evaluation.verdict.decisions.filter(
      ({ check, decision }) => check === 'policy' && decision === 'refuse',
    )
    const all: ExplanationEvidence[] = []
    for (const { policyId } of matched) {
      const policy = plan.policies[direction].find(({ id }) => id === policyId)
      const source = policy && rules.policies.get(versionKey(policy.id, policy.version))?.published?.rule
      const expression = source === undefined ? undefined : expressionOf(source)
      if (policy === undefined || expression === undefined) continue
      const facts = await factsOf(plan, policy, evaluation)
      if (facts !== undefined)
        all.push(...explainExpression(expression, facts).map((part) => evidenceOf(policy.id, part)))
    }
    return all
  }

  async function factsOf(
    plan: Plan,
    policy: ActivePolicy,
    { scenario: { request, direction } }: RerunEvaluation,
  ): Promise<RuleFacts | undefined> {
    const alone = { ...plan, policies: { request: [policy], response: [policy] } }
    const isMatch = async ({ text, places }: Pick<LocatedText, 'text' | 'places'>): Promise<boolean> => {
      const { verdict } = await evaluate(alone, { texts: [text], places: new Map([[text, places]]), direction })
      return verdict.decisions.some(({ check, decision }) => check === 'policy' && decision === 'refuse')
    }
    for (const { text, places } of [...locatedTexts(request).slice(0, maxTexts), { text: '', places: [] }]) {
      if (!(await isMatch({ text, places }))) continue
      const scan = await scanText({
        text,
        direction,
        reader: classificationReader(plan, direction),
        scansForInjection: places.length > 0,
      })
      const { classification, personalData } = scan
      return {
        ...plan.facts,
        text,
        direction,
        categories: classification.scores,
        pii: countByKind(personalData),
        ...injectionFacts(scan, places),
      }
    }
    return undefined
  }
}

const evidenceOf = (policyId: string, { source, value, operands }: DecidingPart): ExplanationEvidence => ({
  kind: 'expression',
  check: 'policy',
  policyId,
  name: source,
  part: null,
  start: null,
  end: null,
  quote: null,
  scoreBasisPoints: null,
  value: [
    value === undefined ? 'not evaluated' : String(value),
    ...operands.map((operand) => `${operand.source} = ${operand.value}`),
  ].join(', '),
})
