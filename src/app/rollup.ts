import { toUnixSeconds } from '../base/clock.ts'
import { foldStoredDeltas } from '../adapters/stores/sql/rollup/fold.ts'
import { trimRollup } from '../adapters/stores/sql/rollup/trim.ts'
import type { Infrastructure } from './infrastructure.ts'

/** Starts the jobs that keep the sums of the reports, until the app is closed. */
export function openRollup({ built, config, database, jobs, clock }: Infrastructure): void {
  const fold = async (): Promise<void> => {
    while (!(await foldStoredDeltas(database))) continue
  }
  const { retention_days: userDays } = config.audit
  built.use(jobs.start('fold-rollup-deltas', fold))
  built.use(
    jobs.start('trim-rollup', () => trimRollup(database, { nowSeconds: toUnixSeconds(clock.nowMs()), userDays })),
  )
}
