import type { Clock } from '../../base/clock.ts'
import type { CaseRun, RunCases } from '../cases/run.ts'
import type { RuleScore } from '../policy/rule-score.ts'
import type { Judge, RuleJudge } from '../policy/judge.ts'
import type { JudgeCalibration } from './calibration.ts'
import { notAsked } from './report.ts'
import type { AskCalibrated, CalibrationQuestion } from './runner.ts'

type AskParts = {
  readonly runCases: RunCases
  readonly scenarioOf: CaseRun['scenarioOf']
  /** A judge without memory; undefined if it is gone. */
  readonly openJudge: (
    calibration: JudgeCalibration,
    hooks: { readonly onSpent: (request: unknown, usd: number) => void },
  ) => Promise<Judge | undefined>
  readonly clock: Pick<Clock, 'monotonicMs'>
}

type Asked = { readonly score: RuleScore | undefined; readonly failure: string | undefined }

/** Asks a judge as a request would, through the evaluation of the rule, and measures time and cost of its answers. */
export function createAskCalibrated({ runCases, scenarioOf, openJudge, clock }: AskParts): AskCalibrated {
  return async (calibration, question) => {
    let usd = 0
    let longestMs = 0
    let calls = 0
    const judge = await openJudge(calibration, { onSpent: (_request, spent) => void (usd += spent) })
    if (judge === undefined) return { score: null, failure: notAsked, ms: 0, usdMicros: 0 }
    const timed: Judge = async (request) => {
      const startedMs = clock.monotonicMs()
      calls += 1
      const score = await judge(request)
      longestMs = Math.max(longestMs, clock.monotonicMs() - startedMs)
      return score
    }
    const { score, failure } = await asked(calibration, question, { version: calibration.subject, ask: timed })
    const measured = { ms: Math.round(longestMs), usdMicros: Math.round(usd * 1_000_000) }
    if (calls === 0) return { score: null, failure: notAsked, ...measured }
    if (score !== undefined && 'basisPoints' in score) return { score: score.basisPoints, failure: null, ...measured }
    return { score: null, failure: failure ?? 'judge_failed', ...measured }
  }

  async function asked(calibration: JudgeCalibration, question: CalibrationQuestion, judge: RuleJudge): Promise<Asked> {
    const { organizationId } = calibration
    if (question.kind === 'injection') {
      const { rule, text } = question
      const of = { organizationId, policyId: '', versionId: 'injection', threshold: 5_000 }
      const score = await judge.ask({ ...of, rule, text, direction: 'request' })
      return { score, failure: 'notEvaluated' in score ? score.notEvaluated : undefined }
    }
    const { policy, given } = question
    const [result] = await runCases({
      organizationId,
      // A guard would keep the judge from answering, and a draft may be for other projects.
      policy: { id: policy.id, name: undefined, version: undefined, content: { ...policy.content, judgeWhen: '' } },
      cases: [{ id: 'case', given, expected: 'match' }],
      scenarioOf,
      usesJudge: true,
      judge,
    })
    const score =
      result?.score === undefined || result.state === 'not_evaluated' ? undefined : { basisPoints: result.score }
    return { score, failure: result?.reason }
  }
}
