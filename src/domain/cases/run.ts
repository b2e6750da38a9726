import type { Clock } from '../../base/clock.ts'
import { unsaved, type GatewayConfiguration } from '../gateway-config/configuration.ts'
import type { Scenario, Simulate, TriedPolicy } from '../evaluation/simulate.ts'
import { outcomesOf } from '../evaluation/verdict/outcomes.ts'
import { thresholdOf } from '../policy/content.ts'
import type { RuleJudge } from '../policy/judge.ts'
import type { Expectation, ExpectedDecision, GatewayCase, PolicyCase } from './case.ts'

/** A case that was not evaluated has not passed. */
export const caseStates = ['passed', 'failed', 'not_evaluated'] as const

type ResultOf<Got> = {
  readonly caseId: string
  readonly state: (typeof caseStates)[number]
  /** What the rule said, or the configuration decided; undefined if it was not evaluated. */
  readonly got: Got | undefined
  /** Why it was not evaluated. */
  readonly reason: string | undefined
  readonly ms: number
}

export type CaseResult = ResultOf<'match' | 'no_match'> & {
  /** The score of the rule in basis points. */
  readonly score: number | undefined
}

export type GatewayCaseResult = ResultOf<ExpectedDecision>

/** The part of a case that a run needs. */
type Runnable = Pick<PolicyCase, 'id' | 'given' | 'expected'>

export type CaseRun = {
  readonly organizationId: string
  readonly policy: TriedPolicy
  readonly cases: readonly Runnable[]
  /** Decodes what a case is given. `direction` is the one of a case that names none. */
  readonly scenarioOf: (given: PolicyCase['given'], direction: Scenario['direction']) => Scenario
  /** False: rules that a judge model evaluates are not evaluated. */
  readonly usesJudge: boolean
  /** By default the judge in force. */
  readonly judge?: RuleJudge | undefined
}

export type RunCases = (run: CaseRun) => Promise<readonly CaseResult[]>

export type GatewayCaseRun = Pick<CaseRun, 'organizationId' | 'scenarioOf'> & {
  readonly config: GatewayConfiguration
  readonly cases: readonly Pick<GatewayCase, 'id' | 'given' | 'expected'>[]
}

export type RunGatewayCases = (run: GatewayCaseRun) => Promise<readonly GatewayCaseResult[]>

type RunParts = { readonly simulate: Simulate; readonly clock: Pick<Clock, 'monotonicMs'> }

/** A judge model answers several at once. */
const concurrency = 4
/** Cases that have not begun by then are not evaluated: their caller waits for the response. */
const longestMs = 60_000

/** Evaluates cases with the code that evaluates requests. */
export function createRunCases({ simulate, clock }: RunParts): RunCases {
  async function evaluated(each: Runnable, { policy, scenarioOf, ...run }: CaseRun): Promise<Omit<CaseResult, 'ms'>> {
    const { content } = policy
    const scenario = scenarioOf(each.given, content.direction === 'response' ? 'response' : 'request')
    // A case that names no project is about the rule alone.
    const scope = scenario.context.project === '' ? 'unattached' : content.scope
    const simulation = await simulate({
      organizationId: run.organizationId,
      config: unsaved.config, // a case is about this rule, whatever the gateway configuration denies
      policies: { includesInForce: false, tried: [{ ...policy, content: { ...content, scope } }] },
      usesJudge: run.usesJudge,
      judge: run.judge,
      scenario,
    })
    const outcome = outcomesOf(simulation).find(({ policyId }) => policyId === policy.id)
    const isApplied = simulation.notApplied.length === 0
    if (isApplied && (outcome === undefined || outcome.decision === 'not_evaluated'))
      return { ...notEvaluated(each, outcome?.notEvaluated ?? 'not_evaluated'), score: outcome?.scoreBasisPoints }
    const score = isApplied ? (outcome?.scoreBasisPoints ?? 0) : 0
    const got = score >= thresholdOf(content) ? 'match' : 'no_match'
    const state = isMet(each.expected, { got, score }) ? 'passed' : 'failed'
    return { caseId: each.id, state, got, score, reason: undefined }
  }

  return (run) =>
    inTime(clock, run.cases, {
      evaluate: (each) => evaluated(each, run),
      late: (each) => notEvaluated(each, 'time_limit'),
    })
}

/**
 * Evaluates cases with the gateway configuration alone, without policies. The rollout does not matter: a case is about what is
 * decided, not about who it is enforced for.
 */
export function createRunGatewayCases({ simulate, clock }: RunParts): RunGatewayCases {
  return ({ organizationId, config, cases, scenarioOf }) =>
    inTime(clock, cases, {
      async evaluate({ id, given, expected }): Promise<Omit<GatewayCaseResult, 'ms'>> {
        const scenario = scenarioOf(given, 'request')
        const policies = { includesInForce: false, tried: [] }
        const simulation = await simulate({ organizationId, config, policies, usesJudge: false, scenario })
        const { decision } = simulation.verdict
        const got = decision === 'not_evaluated' ? undefined : decision
        return { caseId: id, state: got === expected ? 'passed' : 'failed', got, reason: undefined }
      },
      late: ({ id }) => ({ caseId: id, state: 'not_evaluated', got: undefined, reason: 'time_limit' }),
    })
}

type Timed<Each, Result> = {
  readonly evaluate: (each: Each) => Promise<Result>
  /** The result of a case that has not begun in time. */
  readonly late: (each: Each) => Result
}

async function inTime<Each, Result>(
  clock: RunParts['clock'],
  cases: readonly Each[],
  { evaluate, late }: Timed<Each, Result>,
): Promise<readonly (Result & { readonly ms: number })[]> {
  const startedAtMs = clock.monotonicMs()
  const results: (Result & { readonly ms: number })[] = []
  const waiting = [...cases.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, each] = next
      const beganAtMs = clock.monotonicMs()
      const result = beganAtMs - startedAtMs > longestMs ? late(each) : await evaluate(each)
      results[at] = { ...result, ms: clock.monotonicMs() - beganAtMs }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return results
}

const notEvaluated = ({ id }: Runnable, reason: string): Omit<CaseResult, 'ms'> => ({
  caseId: id,
  state: 'not_evaluated',
  got: undefined,
  score: undefined,
  reason,
})

export function isMet(
  expected: Expectation,
  { got, score }: { readonly got: string; readonly score: number },
): boolean {
  if (typeof expected === 'string') return expected === got
  return score >= (expected.atLeast ?? 0) && score <= (expected.atMost ?? 10_000)
}
