import type { JudgeFacts } from '../gate/checks.ts'
import type { Policy } from '../policy/policy.ts'
import { expressionOf } from '../policy/rule.ts'
import type { CalibrationStore } from './calibration.ts'
import { fileJudgeId, type JudgeStore } from './judge.ts'

type Stores = {
  readonly judges: Pick<JudgeStore, 'inForce'>
  readonly calibrations: Pick<CalibrationStore, 'latest'>
}

/** The calibration of the judge that evaluates the draft of a policy; undefined if none does. */
export async function judgeFacts(
  { judges, calibrations }: Stores,
  { organizationId, draft }: Pick<Policy, 'organizationId' | 'draft'>,
  fileSubject: string | undefined,
): Promise<JudgeFacts | undefined> {
  if (expressionOf(draft.rule) !== undefined) return undefined
  const { active } = await judges.inForce(organizationId)
  if (active === undefined && fileSubject === undefined) return undefined
  const judgeId = active?.judgeId ?? fileJudgeId
  const version = active?.version ?? 0
  const found = await calibrations.latest({ organizationId, judgeId, version, kind: 'calibration' })
  // The model or the prompt of the configuration may be another one since then.
  const calibration = active === undefined && found?.subject !== fileSubject ? undefined : found
  return {
    calibratedAtMs: calibration?.updatedAtMs,
    isConsistent: calibration?.report?.consistent === true,
  }
}
