import { thresholdsOf } from './activation.ts'
import type { CalibrationStore, JudgeCalibration } from './calibration.ts'
import { fileJudgeId, nightlyLabels, type FixedLabels, type JudgeVersion, type VersionAt } from './judge.ts'
import { fixedLabels } from './report.ts'
import type { PolicyStore } from '../policy/store.ts'

/** A judge in force, and what later answers are compared with. */
export type WatchedJudge = VersionAt & {
  /** The model and a digest of the prompt. */
  readonly subject: string
  readonly fixed: FixedLabels
  /** When it took over; of the judge of the configuration, its last calibration. Null: there is nothing to compare with. */
  readonly sinceMs: number | null
}

/** Identifies what a version asks: the model and the digest of the prompt. */
export const subjectOf = ({ model, digest }: Pick<JudgeVersion, 'model' | 'digest'>): string => `${model}@${digest}`

export const watchedVersion = (version: JudgeVersion): WatchedJudge => ({
  organizationId: version.organizationId,
  judgeId: version.judgeId,
  version: version.version,
  subject: subjectOf(version),
  fixed: version.fixed,
  sinceMs: version.activatedAtMs,
})

type WatchedFileParts = {
  readonly calibrations: Pick<CalibrationStore, 'latest' | 'answers'>
  readonly policies: Pick<PolicyStore, 'find'>
  /** What the judge of the configuration asks; undefined if there is none. */
  readonly subject: string | undefined
}

/** Organizations whose labels are kept in memory; the one that was read first is forgotten. */
const maxKept = 1_000
const nothing: FixedLabels = { items: [], kappa: null }

/**
 * The judge of the configuration as an organization uses it. It is never activated, so the labels that it is asked about each night
 * are those of its last calibration. Undefined if there is no such judge.
 */
export function createWatchedFileJudge({ calibrations, policies, subject }: WatchedFileParts) {
  const kept = new Map<string, { readonly calibrationId: string; readonly fixed: FixedLabels }>()
  return async (organizationId: string): Promise<WatchedJudge | undefined> => {
    if (subject === undefined) return undefined
    const at = { organizationId, judgeId: fileJudgeId, version: 0 }
    const last = await calibrations.latest({ ...at, kind: 'calibration' })
    // The configuration may name another model since then.
    const calibration = last?.subject === subject ? last : undefined
    const fixed = calibration === undefined ? nothing : await fixedOf(calibration)
    return { ...at, subject, fixed, sinceMs: calibration?.updatedAtMs ?? null }
  }

  async function fixedOf(calibration: JudgeCalibration): Promise<FixedLabels> {
    const { id, organizationId } = calibration
    const known = kept.get(organizationId)
    if (known?.calibrationId === id) return known.fixed
    const answers = await calibrations.answers(id)
    const thresholdOf = await thresholdsOf(policies, calibration)
    const fixed = fixedLabels(calibration, answers, { thresholdOf, most: nightlyLabels })
    kept.delete(organizationId)
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value ?? '')
    kept.set(organizationId, { calibrationId: id, fixed })
    return fixed
  }
}
