import type { Clock } from '../../base/clock.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import type { Scenario, Simulate, TriedPolicy } from '../evaluation/simulate.ts'
import { outcomesOf } from '../evaluation/verdict/outcomes.ts'
import { thresholdOf } from '../policy/content.ts'
import type { Expectation, PolicyCase } from './case.ts'

/** A case that was not evaluated has not passed. */
export const caseStates = ['passed', 'failed', 'not_evaluated'] as const

export type CaseResult = {
  readonly caseId: string
  readonly state: (typeof caseStates)[number]
  /** What the rule said; undefined if it was not evaluated. */
  readonly got: 'match' | 'no_match' | undefined
  /** The score of the rule in basis points. */
  readonly score: number | undefined
  /** Why the rule was not evaluated. */
  readonly reason: string | undefined
  readonly ms: number
}

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
}

export type RunCases = (run: CaseRun) => Promise<readonly CaseResult[]>

/** A judge model answers several at once. */
const concurrency = 4
/** Cases that have not begun by then are not evaluated: their caller waits for the response. */
const longestMs = 60_000

/** Evaluates cases with the code that evaluates requests. */
export function createRunCases({
  simulate,
  clock,
}: {
  readonly simulate: Simulate
  readonly clock: Pick<Clock, 'monotonicMs'>
}): RunCases {
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

  return async (run) => {
    const startedAtMs = clock.monotonicMs()
    const results: CaseResult[] = []
    const waiting = [...run.cases.entries()]
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [at, each] = next
        const beganAtMs = clock.monotonicMs()
        const isLate = beganAtMs - startedAtMs > longestMs
        const result = isLate ? notEvaluated(each, 'time_limit') : await evaluated(each, run)
        results[at] = { ...result, ms: clock.monotonicMs() - beganAtMs }
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return results
  }
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
