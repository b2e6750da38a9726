import type { Judge } from './queries.ts'

type Calibrated = Pick<NonNullable<Judge['calibration']>, 'labels' | 'consistent' | 'failures'>

/** Why the figures of a calibration say nothing; undefined if they do. */
export function problemOf({ labels, consistent, failures }: Calibrated) {
  if (labels > 0) return consistent ? undefined : 'inconsistent'
  return failures.found > 0 ? 'failed' : 'noLabels'
}
