import { hash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { unsaved, type GatewayConfiguration } from '../gateway-config/configuration.ts'
import type { InferenceRequest } from '../inference/request.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import type { CompileRule, RuleSource } from '../policy/compiled-rule.ts'
import type { PolicyContent } from '../policy/content.ts'
import type { RuleJudge } from '../policy/judge.ts'
import type { Evaluate, Evaluation } from './evaluate.ts'
import { noFindings } from './findings.ts'
import { planFor, type EvaluationContext, type Plan } from './plan.ts'
import type { ActivePolicy, Rulebook, RulebookOf } from './rulebook.ts'
import { compileGateway, judgedSource } from './rulebooks.ts'
import { scannedTextsOf } from './texts/request-texts.ts'

/** A request or response that is evaluated and not sent. */
export type Scenario = {
  /** The request, or for the direction `response` the blocks of a response in the form of one. Undefined: no text. */
  readonly request: InferenceRequest | undefined
  readonly direction: TextDirection
  /** Categories to treat as found. */
  readonly categories: readonly string[]
  readonly context: ScenarioContext
}

/** It is evaluated when it is simulated. */
export type ScenarioContext = Omit<EvaluationContext, 'atMs'>

/** A policy that is evaluated although this content of it is not in force: a draft, or a content that is not stored. */
export type TriedPolicy = {
  readonly id: string
  readonly name: string | undefined
  /** Undefined for a draft. */
  readonly version: number | undefined
  readonly content: PolicyContent
}

export type SimulationInput = {
  readonly organizationId: string
  /** The configuration to simulate; by default the one in force. */
  readonly config: GatewayConfiguration | undefined
  readonly policies: {
    /** Whether the policies in force apply as they do to a request. */
    readonly includesInForce: boolean
    /** Each one replaces the policy in force with the same id. */
    readonly tried: readonly TriedPolicy[]
    /** Ids of policies in force that do not apply. */
    readonly leftOut?: readonly string[]
  }
  /** False: rules that a judge model evaluates are not evaluated. */
  readonly usesJudge: boolean
  /** The judge of the tried policies; by default the one in force. */
  readonly judge?: RuleJudge | undefined
  readonly scenario: Scenario
}

export type Simulation = Evaluation & {
  readonly plan: Plan
  readonly scenario: Scenario
  /** Tried policies that do not apply: they are for another direction or another project. */
  readonly notApplied: readonly ActivePolicy[]
  readonly timings: { readonly rulesMs: number; readonly evaluationMs: number }
}

/** The verdict that a request or response would get, from the `Evaluate` function and stream scanner that these use. */
export type Simulate = (input: SimulationInput) => Promise<Simulation>

export type SimulateParts = {
  readonly evaluate: Evaluate
  readonly evaluateResponse: EvaluateResponse
  readonly rulebookOf: RulebookOf
  readonly compileRule: CompileRule
  readonly patterns: PatternEngine
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
}

/** Evaluates a complete response as its stream is evaluated. */
export type EvaluateResponse = (plan: Plan, scenario: Scenario) => Promise<Evaluation>

/** Sends nothing to the requested model, counts nothing and stores nothing. Rules in plain language may call the judge. */
export function createSimulate(parts: SimulateParts): Simulate {
  const { evaluate, evaluateResponse, clock } = parts

  return async (input) => {
    const startedAtMs = clock.monotonicMs()
    const { scenario } = input
    const rulebook = await rulebookFor(parts, input)
    const plan = planFor(rulebook, contextFor(input, clock.nowMs()))
    const plannedAtMs = clock.monotonicMs()
    const evaluation = await evaluateScenario(plan, scenario)
    const evaluationMs = clock.monotonicMs() - plannedAtMs
    const applied = new Set(plan.policies[scenario.direction].map(({ id }) => id))
    const tried = new Set(input.policies.tried.map(({ id }) => id))
    return {
      ...evaluation,
      plan,
      scenario,
      notApplied: rulebook.policies.filter((policy) => tried.has(policy.id) && !applied.has(policy.id)),
      timings: { rulesMs: plannedAtMs - startedAtMs, evaluationMs },
    }
  }

  async function evaluateScenario(plan: Plan, scenario: Scenario): Promise<Evaluation> {
    const { request, direction, categories } = scenario
    const givenCategories = categories.length === 0 ? undefined : categories
    if (request === undefined) {
      const evaluation = await evaluate(plan, { texts: [''], direction, givenCategories })
      return { ...evaluation, findings: { ...evaluation.findings, scores: noFindings.scores } }
    }
    if (direction === 'response') return evaluateResponse(plan, scenario)
    return evaluate(plan, { ...scannedTextsOf(request), direction, givenCategories })
  }
}

/** A tried policy that is attached to nothing applies, as if the request named it. */
function contextFor({ scenario: { context }, policies: { tried } }: SimulationInput, atMs: number): EvaluationContext {
  const unattached = tried.filter(({ content }) => content.scope === 'unattached').map(({ id }) => id)
  return { ...context, policyIds: [...context.policyIds, ...unattached], atMs }
}

async function rulebookFor(parts: SimulateParts, input: SimulationInput): Promise<Rulebook> {
  const { organizationId, config, policies, usesJudge } = input
  const { tried, includesInForce, leftOut = [] } = policies
  const current = await parts.rulebookOf(organizationId)
  const replaced = new Set([...tried.map(({ id }) => id), ...leftOut])
  const inForce = includesInForce ? current.policies.filter(({ id }) => !replaced.has(id)) : []
  const judge = input.judge ?? current.judge
  const compile = (policy: TriedPolicy) => compileTried(parts.compileRule, policy, { organizationId, judge })
  const all = [...inForce, ...tried.map(compile)]
  return {
    organizationId,
    gateway: config ? compileGateway({ ...unsaved, config }, parts.patterns) : current.gateway,
    policies: usesJudge ? all : all.map(withoutJudge),
    exceptions: current.exceptions,
  }
}

/** The version id is derived from the rule's text, because the judge caches scores by it. */
function compileTried(
  compileRule: CompileRule,
  tried: TriedPolicy,
  of: Pick<RuleSource, 'organizationId' | 'judge'>,
): ActivePolicy {
  const { rule, ...content } = tried.content
  const versionId = `tried:${hash('sha256', rule, 'base64url')}`
  const compiled = compileRule({ ...judgedSource(tried.id, content), ...of, rule, versionId })
  const { id, name, version = 0 } = tried
  return { ...content, id, versionId, version, rule: compiled, ...(name !== undefined && { name }) }
}

/** A policy whose rule no judge model is asked about. The version id differs, so that no cached score of the policy is replaced. */
export function withoutJudge(policy: ActivePolicy): ActivePolicy {
  if (policy.rule.evaluator !== 'judge') return policy
  const score = (): { notEvaluated: string; isFailure: boolean } => ({
    notEvaluated: 'judge_not_asked',
    isFailure: false,
  })
  return { ...policy, versionId: `${policy.versionId}:not_judged`, rule: { ...policy.rule, score } }
}
