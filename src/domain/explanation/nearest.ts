/** Finds the smallest changes with which a text would have passed. Each is verified by evaluating again. No model is asked. */
import type { Evidence } from '../evaluation/evidence.ts'
import type { Plan } from '../evaluation/plan.ts'
import type { ActivePolicy } from '../evaluation/rulebook.ts'
import { requestTexts, type TextLocation } from '../evaluation/texts/request-texts.ts'
import { combine, type Verdict } from '../evaluation/verdict/combine.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import type { Span } from '../scan/normalise/normalise.ts'
import type { NearestChange } from './explanation.ts'
import { passesAfter, withThreshold } from './recorded-verdict.ts'
import { verdictOf, type Rerun, type RerunEvaluation, type RunAgain } from './rerun.ts'
import { proseAt, withoutSpan } from './rerun-texts.ts'

/** The highest threshold of a policy. */
const maxThreshold = 9_999

export const nothingChanged = {
  check: null,
  policyId: null,
  thresholdBasisPoints: null,
  part: null,
  start: null,
  end: null,
  quote: null,
  effect: 'allow',
  isVerified: true,
  alsoAffects: null,
} as const

/** The threshold just above the score of the policy that decided. */
export function nearestThreshold(verdict: Verdict): NearestChange | undefined {
  const { check, policyId, decision, scoreBasisPoints: score } = verdict.deciding ?? {}
  if (check !== 'policy' || policyId === null || policyId === undefined || decision !== 'refuse') return undefined
  if (score === undefined || score >= maxThreshold) return undefined
  const thresholdBasisPoints = score + 1
  if (!passesAfter(verdict, withThreshold(verdict, policyId, thresholdBasisPoints))) return undefined
  return { ...nothingChanged, change: 'threshold', check, policyId, thresholdBasisPoints }
}

/** The one check without which the text passes; undefined if several would have to be left out. */
export function nearestCheck(verdict: Verdict): NearestChange | undefined {
  const { deciding, decisions } = verdict
  // No configuration can leave the always blocked categories out.
  if (deciding === undefined || deciding.check === 'always_blocked') return undefined
  const rest = combine(decisions.filter((one) => one !== deciding))
  if (!passesAfter(verdict, rest)) return undefined
  const { check, policyId } = deciding
  return { ...nothingChanged, change: 'without_check', check, policyId }
}

/** The rules with a change of a threshold, or without a check. */
export function changedPlan(plan: Plan, { change, check, policyId, thresholdBasisPoints }: NearestChange): Plan {
  if (check === 'gateway') return { ...plan, gateway: { ...plan.gateway, ...unsaved, terms: undefined } }
  if (check === 'requested') return { ...plan, requested: [] }
  if (check === 'prompt_injection') return withoutInjectionCheck(plan)
  const changed = (policies: readonly ActivePolicy[]): readonly ActivePolicy[] =>
    policies.flatMap((policy) => {
      if (policy.id !== policyId) return [policy]
      return change === 'threshold' ? [{ ...policy, matchThresholdBasisPoints: thresholdBasisPoints }] : []
    })
  return { ...plan, policies: { request: changed(plan.policies.request), response: changed(plan.policies.response) } }
}

function withoutInjectionCheck(plan: Plan): Plan {
  const { config } = plan.gateway
  const off = { tool_results: 'off', documents: 'off', user_text: 'off' } as const
  return {
    ...plan,
    gateway: { ...plan.gateway, config: { ...config, rules: { ...config.rules, prompt_injection: off } } },
  }
}

/** A range of one text, without which the request or response passes. */
export type DecidingSpan = Span & { readonly where: TextLocation; readonly evaluation: RerunEvaluation }

export type FoundEvidence = { readonly evaluation: RerunEvaluation; readonly evidence: readonly Evidence[] }

/** Evaluations of one search. Each takes about as long as the request itself did, so long texts get fewer. */
const maxEvaluations = 64
const minEvaluations = 4
const maxCharacters = 2_000_000

/**
 * The shortest span of whole words, as far as it can be found from the evidence: one piece of it, all that one text has, or the
 * whole text; then as many words less at both ends as possible. Undefined if no single span is enough.
 */
export async function nearestSpan(
  { plan, verdict, evaluations }: Rerun,
  located: readonly FoundEvidence[],
  { evaluateScenario }: Pick<RunAgain, 'evaluateScenario'>,
): Promise<DecidingSpan | undefined> {
  let left = Math.max(minEvaluations, Math.min(maxEvaluations, Math.floor(maxCharacters / charactersIn(evaluations))))
  const passesWithout = async ({ where, evaluation, ...span }: DecidingSpan): Promise<boolean> => {
    if (left-- <= 0) return false
    const { scenario } = evaluation
    const request = withoutSpan(scenario.request, where, span)
    const again = await evaluateScenario(plan, { ...scenario, request })
    const all = evaluations.map((one) => (one.scenario === scenario ? { ...one, ...again } : one))
    return passesAfter(verdict, verdictOf(all))
  }
  for (const candidate of candidatesOf(located))
    if (await passesWithout(candidate)) return shortened(candidate, passesWithout)
  return undefined
}

function charactersIn(evaluations: readonly RerunEvaluation[]): number {
  const texts = evaluations.flatMap(({ scenario }) => requestTexts(scenario.request))
  return texts.reduce((sum, { length }) => sum + length, 1)
}

/** Shortest first. */
function candidatesOf(located: readonly FoundEvidence[]): readonly DecidingSpan[] {
  const found = new Map<string, DecidingSpan>()
  for (const { evaluation, evidence } of located) {
    const { request, direction } = evaluation.scenario
    const add = (where: TextLocation, span: Span): void => {
      if (span.end > span.start)
        found.set(`${direction} ${keyOf(where)} ${span.start} ${span.end}`, { ...span, where, evaluation })
    }
    const byText = Map.groupBy(evidence, ({ where }) => (where === undefined ? '' : keyOf(where)))
    for (const ofText of byText.values()) {
      const where = ofText[0]?.where
      const text = where && proseAt(request, where)
      if (where === undefined || text === undefined) continue
      const spans = ofText.flatMap(({ span }) => span ?? [])
      for (const span of spans) add(where, span)
      if (spans.length > 1)
        add(where, {
          start: Math.min(...spans.map(({ start }) => start)),
          end: Math.max(...spans.map(({ end }) => end)),
        })
      add(where, { start: 0, end: text.length })
    }
  }
  return [...found.values()].toSorted((one, other) => one.end - one.start - (other.end - other.start))
}

const keyOf = (where: TextLocation): string => (where.kind === 'part' ? `${where.message}.${where.part}` : where.kind)

/** Drops words at the start and then at the end, many at once first. */
async function shortened(
  found: DecidingSpan,
  passesWithout: (span: DecidingSpan) => Promise<boolean>,
): Promise<DecidingSpan> {
  const text = proseAt(found.evaluation.scenario.request, found.where) ?? ''
  let words = [...text.slice(found.start, found.end).matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    start: found.start + index,
    end: found.start + index + word.length,
  }))
  const spanOf = (some: readonly Span[]): DecidingSpan => ({
    ...found,
    start: some[0]?.start ?? found.start,
    end: some.at(-1)?.end ?? found.end,
  })
  for (const drop of [(count: number) => words.slice(count), (count: number) => words.slice(0, words.length - count)])
    for (let count = words.length >> 1; count >= 1;)
      if (count < words.length && (await passesWithout(spanOf(drop(count))))) words = drop(count)
      else count >>= 1
  return words.length > 0 && (await passesWithout(spanOf(words))) ? spanOf(words) : found
}
