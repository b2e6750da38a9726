import type { JudgeFactsStore } from '../gate/checks.ts'
import type { CalibrationStore } from './calibration.ts'
import { fileJudgeId, type JudgeStore } from './judge.ts'

type Stores = {
  readonly judges: Pick<JudgeStore, 'inForce'>
  readonly calibrations: Pick<CalibrationStore, 'latest'>
}

/** What the publish gate asks about the judge in force. `fileSubject`: what the judge of the configuration asks. */
export const judgeFactsStore = (
  { judges, calibrations }: Stores,
  fileSubject: string | undefined,
): JudgeFactsStore => ({
  async factsOf(organizationId) {
    const { active } = await judges.inForce(organizationId)
    if (active === undefined && fileSubject === undefined) return undefined
    const judgeId = active?.judgeId ?? fileJudgeId
    const version = active?.version ?? 0
    const found = await calibrations.latest({ organizationId, judgeId, version, kind: 'calibration' })
    // The model or the prompt of the configuration may be another one since then.
    const calibration = active === undefined && found?.subject !== fileSubject ? undefined : found
    return { calibratedAtMs: calibration?.updatedAtMs, isConsistent: calibration?.report?.consistent === true }
  },
})
