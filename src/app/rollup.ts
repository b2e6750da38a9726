import { toUnixSeconds } from '../base/clock.ts'
import { foldStoredDeltas, type DeltaRow } from '../adapters/stores/sql/rollup/fold.ts'
import { trimRollup } from '../adapters/stores/sql/rollup/trim.ts'
import type { Infrastructure } from './infrastructure.ts'

/** Starts the jobs that keep the sums of the reports, until the app is closed. */
export function openRollup({ built, config, database, jobs, clock, log }: Infrastructure): void {
  const onDamaged = ({ organization_id, id, delta }: DeltaRow): void =>
    log.error(
      { organization_id, id, delta: delta.slice(0, 200) },
      'a delta of the sums is damaged, so reports miss what it counted',
    )
  const fold = async (): Promise<void> => {
    while (!(await foldStoredDeltas(database, onDamaged))) continue
  }
  const { retention_days: userDays } = config.audit
  built.use(jobs.start('fold-rollup-deltas', fold))
  built.use(
    jobs.start('trim-rollup', () => trimRollup(database, { nowSeconds: toUnixSeconds(clock.nowMs()), userDays })),
  )
}
