import { rowOf } from '../audit/chain/chained-event.ts'
import type { ChainedDocument } from '../audit/event/document.ts'
import type { Evaluate, Evaluation } from '../evaluation/evaluate.ts'
import { injectionPlacesRead, planFor, type Plan } from '../evaluation/plan.ts'
import type { ActivePolicy } from '../evaluation/rulebook.ts'
import { compileGateway } from '../evaluation/rulebooks.ts'
import type { EvaluateResponse, Scenario } from '../evaluation/simulate.ts'
import { scannedTextsOf } from '../evaluation/texts/request-texts.ts'
import { combine, isDenied, mergeDecisions, type Verdict } from '../evaluation/verdict/combine.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import { rolloutModes, type Rollout } from '../gateway-config/rollout.ts'
import type { InferenceRequest } from '../inference/request.ts'
import type { CompiledRule, CompileRule } from '../policy/compiled-rule.ts'
import { contentOf } from '../policy/content.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import { isOptionalCategory } from '../scan/classify/categories.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import type { RerunLoss } from './explanation.ts'
import {
  decidingCheckOf,
  gatewayVersionIn,
  policyResultsIn,
  recordedOutcomes,
  textsIn,
  versionKey,
  type EvaluatedRules,
  type RecordedOutcome,
  type UnevaluatedPolicy,
} from './recorded-outcomes.ts'
import { withRecordedModes, type RerunTexts } from './rerun-texts.ts'

export type RerunParts = {
  readonly evaluate: Evaluate
  readonly evaluateResponse: EvaluateResponse
  readonly compileRule: CompileRule
  readonly patterns: PatternEngine
}

/** Texts evaluated again by the versions that decided. */
export type Rerun = {
  readonly plan: Plan
  readonly verdict: Verdict
  /** What was evaluated. A response is not if its request is denied. */
  readonly evaluations: readonly RerunEvaluation[]
  readonly losses: readonly RerunLoss[]
}

export type RerunEvaluation = Evaluation & { readonly scenario: Scenario & { readonly request: InferenceRequest } }

type RerunInput = { readonly document: ChainedDocument; readonly rules: EvaluatedRules; readonly texts: RerunTexts }

export type RunAgain = ReturnType<typeof createRerun>

/** No judge is asked: its rules keep the score of the record. */
export function createRerun({ evaluate, evaluateResponse, compileRule, patterns }: RerunParts) {
  return { rerun, evaluateScenario }

  async function rerun(input: RerunInput): Promise<Rerun> {
    const { texts } = input
    const plan = planOf(input)
    const evaluations: RerunEvaluation[] = []
    for (const direction of ['request', 'response'] as const) {
      const request = texts[direction]
      if (request === undefined || evaluations.some(({ verdict }) => isDenied(verdict))) continue
      const scenario = { request, direction, categories: [], context: contextOf(input) }
      evaluations.push({ ...(await evaluateScenario(plan, scenario)), scenario })
    }
    return { plan, verdict: verdictOf(evaluations), evaluations, losses: lossesOf(input, plan) }
  }

  async function evaluateScenario(plan: Plan, scenario: RerunEvaluation['scenario']): Promise<Evaluation> {
    const { request, direction } = scenario
    if (direction === 'response') return evaluateResponse(plan, scenario)
    return evaluate(plan, { ...scannedTextsOf(request), direction })
  }

  /** The rules as they applied to the request, whatever applies today. */
  function planOf(input: RerunInput): Plan {
    const { document, rules, texts } = input
    const outcomes = recordedOutcomes(document, rules)
    const config = withRecordedModes(rules.gateway ?? unsaved.config, outcomes, texts.basis)
    const saved = { ...unsaved, version: gatewayVersionIn(document) ?? 0, config }
    const organizationId = document.metadata.tenant_uid
    const gateway = compileGateway(saved, patterns)
    const policies = [
      ...outcomes.flatMap((outcome) => policyOf(outcome, input)),
      ...(rules.unevaluated ?? []).map(({ id, published }) => activePolicy({ id, published }, organizationId)),
    ].toSorted((one, other) => (one.id < other.id ? -1 : 1))
    const applied = {
      request: policies.filter(({ direction }) => direction !== 'response'),
      response: policies.filter(({ direction }) => direction !== 'request'),
    }
    const { timeMs: atMs } = rowOf(document, '')
    const plan = planFor({ organizationId, gateway, policies: [] }, { ...contextOf(input), atMs })
    return { ...plan, rollout: rolloutOf(outcomes, document), policies: applied }
  }

  function policyOf(outcome: RecordedOutcome, { document, rules, texts }: RerunInput): readonly ActivePolicy[] {
    const { policyId: id, version, name } = outcome
    const published =
      outcome.check === 'policy' && id !== null && rules.policies.get(versionKey(id, version))?.published
    if (!published) return []
    const policy = activePolicy({ id, published }, document.metadata.tenant_uid)
    const isJudged = policy.rule.evaluator === 'judge' || wasJudged(document, policy.rule)
    const rule = isJudged ? unaskedJudge(policy.rule, texts.basis === 'rerun' ? outcome : undefined) : policy.rule
    const mode = outcome.isEnforced === false ? 'monitoring' : 'enforcing'
    const exception = outcome.exceptionId === null ? undefined : { id: outcome.exceptionId }
    return [{ ...policy, ...(name !== null && { name }), ...(exception && { exception }), mode, rule }]
  }

  function activePolicy({ id, published }: UnevaluatedPolicy, organizationId: string): ActivePolicy {
    const { id: versionId, version, rule, ...rest } = published
    const content = contentOf({ ...rest, rule })
    const compiled = compileRule({ rule, versionId, organizationId, judgeWindow: content.judgeWindow })
    const isJudged = compiled.evaluator === 'judge'
    return { ...content, id, versionId, version, rule: isJudged ? unaskedJudge(compiled, undefined) : compiled }
  }
}

/** An installation may have lost its judge since then. */
const wasJudged = (document: ChainedDocument, { evaluator }: CompiledRule): boolean =>
  evaluator !== 'expression' && typeof document.unmapped.gatehouse['judge'] === 'string'

/** A rule with the score of the record. A text that was sent along has none. */
function unaskedJudge(rule: CompiledRule, recorded: RecordedOutcome | undefined): CompiledRule {
  const basisPoints = recorded?.scoreBasisPoints ?? undefined
  const score = basisPoints === undefined ? { notEvaluated: 'judge_not_asked', isFailure: false } : { basisPoints }
  return { ...rule, evaluator: 'judge', lookBehind: 'whole', condition: undefined, score: () => score }
}

function contextOf({ document, texts }: RerunInput): Scenario['context'] {
  const { projectId, userId, model, actorId } = rowOf(document, '')
  return {
    model: model ?? '',
    project: projectId ?? '',
    user: userId ?? undefined,
    credentialId: actorId ?? '',
    metadata: texts.metadata,
    target: undefined,
    policyIds: [],
    flaggedCategories: textsIn(document.unmapped.gatehouse['categories_requested']).filter(isOptionalCategory),
  }
}

/** The log records the side of the gateway configuration, and not the target of the request. */
function rolloutOf(outcomes: readonly RecordedOutcome[], document: ChainedDocument): Rollout {
  const isEnforced = outcomes.find(({ check }) => check === 'gateway')?.isEnforced !== false
  const recorded = rolloutModes.find((mode) => mode === document.unmapped.gatehouse['rollout_mode'])
  const isOfGateway = decidingCheckOf(document) === 'gateway'
  return { isEnforced, mode: (isOfGateway ? recorded : undefined) ?? (isEnforced ? 'enforced' : 'shadow') }
}

export const verdictOf = (evaluations: readonly Pick<Evaluation, 'verdict'>[]): Verdict =>
  combine(evaluations.reduce<Verdict['decisions']>((all, { verdict }) => mergeDecisions(all, verdict.decisions), []))

function lossesOf({ document, rules, texts }: RerunInput, plan: Plan): readonly RerunLoss[] {
  const { policies } = plan
  const results = policyResultsIn(document)
  const all = [...policies.request, ...policies.response]
  const isMissing = (direction: TextDirection): boolean =>
    document.unmapped.gatehouse['direction'] === direction && texts[direction] === undefined
  const losses: readonly (RerunLoss | false)[] = [
    // Only the search for prompt injections reads roles.
    ...texts.losses.filter((loss) => loss !== 'roles' || injectionPlacesRead(plan).includes('user_text')),
    all.some(({ rule }) => rule.names.some(({ name }) => /^metadata\b/.test(name))) &&
      texts.basis === 'rerun' &&
      'metadata',
    results.some(({ policyId, version }) => !rules.policies.get(versionKey(policyId, version))?.published) &&
      'policy_version',
    gatewayVersionIn(document) !== null && rules.gateway === undefined && 'gateway_version',
    all.some(({ rule }) => rule.evaluator === 'judge') && 'judge',
    isMissing('request') && 'request',
    isMissing('response') && 'response',
  ]
  return losses.filter((loss) => loss !== false)
}
