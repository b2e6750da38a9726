import type { ChainedDocument } from '../audit/event/document.ts'
import type { LoggedEvent } from '../audit/log.ts'
import type { Evidence, FindEvidence } from '../evaluation/evidence.ts'
import { combine, type Verdict } from '../evaluation/verdict/combine.ts'
import type { ClassifierIdentity } from '../scan/classify/classifier.ts'
import type { CountAffected } from './also-affected.ts'
import type { AlsoAffected, Difference, Explanation, ExplanationEvidence, NearestChange } from './explanation.ts'
import { createExpressionEvidence, type ExpressionEvidenceParts } from './expression-evidence.ts'
import {
  changedPlan,
  nearestCheck,
  nearestSpan,
  nearestThreshold,
  nothingChanged,
  type FoundEvidence,
} from './nearest.ts'
import { decidingOf, recordedEvidence, versionsOf } from './recorded-facts.ts'
import { decisionIn, directionOf, recordedOutcomes, type EvaluatedRules } from './recorded-outcomes.ts'
import { decisionOf, passesAfter, recordedEffect, recordedVerdict } from './recorded-verdict.ts'
import { createRerun, verdictOf, type Rerun, type RerunParts } from './rerun.ts'
import { partName, proseAt, rerunTextsOf, type RerunTexts, type SentTexts } from './rerun-texts.ts'

export type ExplainParts = RerunParts &
  ExpressionEvidenceParts & {
    readonly findEvidence: FindEvidence
    readonly classifier: Pick<ClassifierIdentity, 'version'>
  }

export type ExplainInput = {
  readonly event: LoggedEvent
  readonly rules: EvaluatedRules
  /** Evaluated instead of the kept texts. */
  readonly sent?: SentTexts | undefined
  /** Undefined: nobody counts which other requests a change would affect. */
  readonly countAffected?: CountAffected | undefined
  /** Leaves the nearest changes out, which take many evaluations. */
  readonly skipsChanges?: boolean
}

export type Explain = (input: ExplainInput) => Promise<Explanation>

/** Explains a decision by its record, and by evaluating its texts again with the versions of that time. */
export function createExplain(parts: ExplainParts): Explain {
  const runAgain = createRerun(parts)
  const expressionEvidence = createExpressionEvidence(parts)

  return async (input) => {
    const { event, rules, sent } = input
    const { document } = event
    const outcomes = recordedOutcomes(document, rules)
    const verdict = recordedVerdict(document, rules)
    const texts = directionOf(document) === null ? undefined : rerunTextsOf(event, sent)
    const rerun = texts && (await runAgain.rerun({ document, rules, texts }))
    const found = texts && rerun ? await evidenceAndSpan(input, texts, rerun) : noTexts
    return {
      decision: decisionIn(document.unmapped.gatehouse['decision']),
      effectiveDecision: recordedEffect(document),
      isEnforced: document.unmapped.gatehouse['is_enforced'] !== false,
      direction: directionOf(document),
      basis: texts?.basis ?? 'record',
      deciding: decidingOf(document, rules),
      versions: versionsOf(document),
      evidence: found.evidence.length > 0 ? found.evidence : recordedEvidence(document, rules),
      others: outcomes
        .filter(({ isDeciding }) => !isDeciding)
        .map((outcome) => ({ ...outcome, alone: combine([decisionOf(outcome, document)]).effectiveDecision })),
      nearest: input.skipsChanges ? [] : [...(await changesOf(input, verdict, rerun)), ...found.spans],
      differs: rerun ? [...classifierDifference(document, parts.classifier), ...differencesOf(verdict, rerun)] : [],
      incomplete: rerun?.losses ?? [],
    }
  }

  /** Changes of the rules. All checks of a request ran, so its record is enough. A response ends at its first denial. */
  async function changesOf(input: ExplainInput, recorded: Verdict, rerun?: Rerun): Promise<readonly NearestChange[]> {
    const isOfRequest = directionOf(input.event.document) === 'request'
    const isRepeated = rerun !== undefined && rerun.verdict.decision === recorded.decision
    const changes: NearestChange[] = []
    for (const change of [nearestThreshold(recorded), nearestCheck(recorded)]) {
      if (change === undefined) continue
      const isVerified = isOfRequest || (isRepeated && (await passesWith(change, rerun)))
      if (isRepeated && !isVerified) continue
      changes.push({ ...change, isVerified, alsoAffects: await affectedBy(change, input) })
    }
    return changes
  }

  async function passesWith(change: NearestChange, { plan, verdict, evaluations }: Rerun): Promise<boolean> {
    const changed = changedPlan(plan, change)
    const again = evaluations.map(({ scenario }) => runAgain.evaluateScenario(changed, scenario))
    return passesAfter(verdict, verdictOf(await Promise.all(again)))
  }

  async function evidenceAndSpan(
    { rules, skipsChanges }: ExplainInput,
    texts: RerunTexts,
    rerun: Rerun,
  ): Promise<Found> {
    const { plan, evaluations } = rerun
    const evidence: ExplanationEvidence[] = []
    const located: FoundEvidence[] = []
    for (const evaluation of evaluations) {
      const { direction } = evaluation.scenario
      const timings = { rulesMs: 0, evaluationMs: 0 }
      const ofTexts = await parts.findEvidence({ ...evaluation, plan, notApplied: [], timings })
      located.push({ evaluation, evidence: ofTexts })
      evidence.push(...ofTexts.filter(isFirstOfJudge).map((one) => presentable(one, partNameOf(one))))
      evidence.push(...(await expressionEvidence({ plan, evaluation, rules })))
      function partNameOf({ where }: Evidence): string | null {
        return where === undefined ? null : partName(where, direction, texts)
      }
    }
    const span = skipsChanges ? undefined : await nearestSpan(rerun, located, runAgain)
    if (span === undefined) return { evidence, spans: [] }
    const { where, evaluation, start, end } = span
    const { request, direction } = evaluation.scenario
    const part = partName(where, direction, texts)
    const quote = proseAt(request, where)?.slice(start, end) ?? null
    const change: NearestChange = { ...nothingChanged, change: 'without_text', part, start, end, quote }
    return { evidence, spans: [change] }
  }
}

type Found = { readonly evidence: readonly ExplanationEvidence[]; readonly spans: readonly NearestChange[] }
const noTexts: Found = { evidence: [], spans: [] }

/** A judge says nothing about single texts, so its score is listed once. */
const isFirstOfJudge = ({ kind, policyId }: Evidence, at: number, all: readonly Evidence[]): boolean =>
  kind !== 'judge' || all.findIndex((one) => one.kind === 'judge' && one.policyId === policyId) === at

function presentable(evidence: Evidence, part: string | null): ExplanationEvidence {
  const { kind, check, policyId = null, name, span, text, scoreBasisPoints = null } = evidence
  const own = { kind, check, policyId, name, scoreBasisPoints, value: null }
  if (kind === 'judge') return { ...own, part: null, start: null, end: null, quote: null }
  return { ...own, part, start: span?.start ?? null, end: span?.end ?? null, quote: text ?? null }
}

async function affectedBy(
  { policyId, thresholdBasisPoints }: NearestChange,
  { event, countAffected }: ExplainInput,
): Promise<AlsoAffected | null> {
  if (policyId === null || thresholdBasisPoints === null || countAffected === undefined) return null
  const organizationId = event.document.metadata.tenant_uid
  return countAffected({ organizationId, policyId, thresholdBasisPoints, exceptEventId: event.id })
}

/** A rerun that decides otherwise is a finding, and is listed whatever the cause. */
function differencesOf(recorded: Verdict, { verdict }: Rerun): readonly Difference[] {
  const all: Difference[] = [
    { field: 'decision', recorded: recorded.decision, rerun: verdict.decision },
    { field: 'effective_decision', recorded: recorded.effectiveDecision, rerun: verdict.effectiveDecision },
    { field: 'deciding', recorded: nameOf(recorded), rerun: nameOf(verdict) },
  ]
  for (const { check, policyId, scoreBasisPoints = null } of recorded.decisions) {
    const again = verdict.decisions.find((one) => one.check === 'policy' && one.policyId === policyId)
    if (check === 'policy' && again !== undefined)
      all.push({ field: `score_bp of ${policyId}`, recorded: scoreBasisPoints, rerun: again.scoreBasisPoints ?? null })
  }
  return all.filter(({ recorded: then, rerun: now }) => then !== now)
}

/** The rule that decided: the id of a policy, or the name of another check. */
const nameOf = ({ deciding }: Verdict): string | null =>
  deciding === undefined ? null : deciding.check === 'policy' ? deciding.policyId : deciding.check

/** A newer classifier may give other scores. */
function classifierDifference(document: ChainedDocument, { version }: Pick<ClassifierIdentity, 'version'>) {
  const recorded = versionsOf(document).classifier?.version
  return recorded === undefined || recorded === version ? [] : [{ field: 'classifier', recorded, rerun: version }]
}
