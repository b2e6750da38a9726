/** The facts of an explanation that the event alone has. */
import { isRecord } from '../../base/record.ts'
import type { ChainedDocument, JsonValue } from '../audit/event/document.ts'
import { expressionOf } from '../policy/rule.ts'
import { secondStages } from '../scan/classify/classifier.ts'
import type { DecidingCheck, DecidingVersions, ExplanationEvidence } from './explanation.ts'
import {
  decidingCheckOf,
  gatewayVersionIn,
  numberIn,
  recordedOutcomes,
  textIn,
  versionKey,
  type EvaluatedRules,
  type RecordedOutcome,
} from './recorded-outcomes.ts'

/** The check that decided; null if every check allowed the request. */
export function decidingOf(document: ChainedDocument, rules: EvaluatedRules): DecidingCheck | null {
  const check = decidingCheckOf(document)
  if (check === null) return null
  const outcome = recordedOutcomes(document, rules).find(({ isDeciding }) => isDeciding)
  const {
    reason_code: reasonCode,
    rollout_mode: mode,
    is_enforced: isEnforced,
    match_score_bp: score,
  } = document.unmapped.gatehouse
  const version = Number(document.policy?.version)
  return {
    check,
    policy: {
      id: document.policy?.uid ?? null,
      name: document.policy?.name ?? outcome?.name ?? null,
      version: Number.isInteger(version) && version > 0 ? version : null,
    },
    reasonCode: textIn(reasonCode),
    scoreBasisPoints: numberIn(score),
    thresholdBasisPoints: outcome?.thresholdBasisPoints ?? null,
    exceptionId: outcome?.exceptionId ?? null,
    rollout: {
      mode: textIn(mode),
      percent: check === 'gateway' ? percentOf(textIn(mode), rules) : (outcome?.rolloutPercent ?? null),
      side: isEnforced === false ? 'observed' : 'enforced',
    },
  }
}

function percentOf(mode: string | null, { gateway }: EvaluatedRules): number | null {
  if (gateway === undefined || (mode !== 'shadow' && mode !== 'canary')) return null
  return gateway.rollout[mode].sample_percent
}

export function versionsOf(document: ChainedDocument): DecidingVersions {
  const { classifier, judge } = document.unmapped.gatehouse
  return {
    gatewayConfig: gatewayVersionIn(document),
    classifier: classifierIn(classifier),
    judge: textIn(judge),
    product: document.metadata.product.version,
  }
}

/** The classifier that scored the texts; null if none did. */
export function classifierIn(classifier: JsonValue | undefined): DecidingVersions['classifier'] {
  if (!isRecord(classifier)) return null
  const { id, version, stage } = classifier
  const known = (['linear', ...secondStages] as const).find((one) => one === stage)
  return known === undefined ? null : { id: String(id), version: String(version), stage: known }
}

/** What the event says without a text: terms, categories and counts, which are words of the rules. */
export function recordedEvidence(document: ChainedDocument, rules: EvaluatedRules): readonly ExplanationEvidence[] {
  const isJudged = typeof document.unmapped.gatehouse['judge'] === 'string'
  return recordedOutcomes(document, rules)
    .filter(({ decision }) => decision !== 'allow' && decision !== 'not_evaluated')
    .flatMap((outcome): readonly ExplanationEvidence[] => {
      const { check, policyId, terms, categories, personalData, hasNoAllowedTerm, scoreBasisPoints } = outcome
      const own = { check, policyId: check === 'policy' ? policyId : null, ...unplaced }
      return [
        ...terms.map((name) => ({ ...own, kind: 'term' as const, name })),
        ...categories.map((name) => ({ ...own, kind: 'category' as const, name, scoreBasisPoints })),
        ...personalData.map(({ kind, count }) => ({
          ...own,
          kind: 'personal_data' as const,
          name: kind,
          value: String(count),
        })),
        ...(hasNoAllowedTerm ? [{ ...own, kind: 'no_allowed_term' as const, name: '' }] : []),
        ...(isJudged && isPlain(outcome, rules)
          ? [{ ...own, kind: 'judge' as const, name: 'judge', scoreBasisPoints }]
          : []),
      ]
    })
}

const unplaced = { part: null, start: null, end: null, quote: null, scoreBasisPoints: null, value: null }

/** Whether the rule is in plain language. */
function isPlain({ check, policyId, version }: RecordedOutcome, { policies }: EvaluatedRules): boolean {
  const rule = policies.get(versionKey(policyId ?? '', version))?.published?.rule
  return check === 'policy' && rule !== undefined && expressionOf(rule) === undefined
}
