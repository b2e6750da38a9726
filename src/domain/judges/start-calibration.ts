import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import type { JudgeCalibration, CalibrationStore } from './calibration.ts'
import { injectionAttempts } from './injection-attempts.ts'
import type { CollectedLabels } from './labels.ts'
import { calibrationRounds } from './report.ts'

export type CalibrationStores = { readonly calibrations: CalibrationStore }

/** What is calibrated: a version of a judge, or the judge of the configuration with the version 0. */
export type CalibrationSubject = Pick<JudgeCalibration, 'organizationId' | 'judgeId' | 'version' | 'subject'>

/** Calibrations run one after the other, so more would only wait. */
const maxRunning = 5

type NewCalibration = {
  readonly subject: CalibrationSubject
  /** Read before the transaction, because the texts of appeals are in the audit log. */
  readonly labels: CollectedLabels
  readonly createdBy: string
}

type Parts = { readonly ids: Ids; readonly clock: Clock }
export type CalibrationAdministration = ReturnType<typeof createCalibrationAdministration>

/** Starts and cancels calibrations. */
export function createCalibrationAdministration({ ids, clock }: Parts) {
  return {
    async start(
      stores: CalibrationStores,
      { subject, labels: { items, leftOut }, createdBy }: NewCalibration,
    ): Promise<WithAuditRecord<JudgeCalibration>> {
      if ((await stores.calibrations.countRunning(subject.organizationId)) >= maxRunning)
        throw new Fault('conflict', 'invalid_state', `${maxRunning} calibrations are running already; wait for one.`)
      if (items.length === 0) {
        const message =
          'There are no labels to calibrate with. Write cases for the policies whose rule is in plain language, or label appeals about them.'
        throw new Fault('conflict', 'invalid_state', message)
      }
      const nowMs = clock.nowMs()
      const value: JudgeCalibration = {
        ...subject,
        id: ids('cal'),
        kind: 'calibration',
        night: null,
        status: 'running',
        items,
        leftOut,
        total: items.length * calibrationRounds + injectionAttempts.length,
        done: 0,
        report: null,
        error: null,
        createdBy,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }
      await stores.calibrations.insert(value)
      const details = { judge_id: value.judgeId, version: value.version, labels: items.length }
      return { value, record: { kind: 'judge_calibration.created', resourceId: value.id, details } }
    },

    async cancel(
      { calibrations }: Pick<CalibrationStores, 'calibrations'>,
      of: Pick<JudgeCalibration, 'organizationId' | 'judgeId' | 'id'>,
    ): Promise<WithAuditRecord<JudgeCalibration>> {
      const before = await findCalibration(calibrations, of)
      const updatedAtMs = clock.nowMs()
      const value: JudgeCalibration = { ...before, status: 'cancelled', error: 'It was cancelled.', updatedAtMs }
      if (!(await calibrations.cancel(value, updatedAtMs))) return { value: await findCalibration(calibrations, of) }
      const details = { judge_id: value.judgeId, version: value.version }
      return { value, record: { kind: 'judge_calibration.cancelled', resourceId: value.id, details } }
    },
  }
}

export async function findCalibration(
  calibrations: Pick<CalibrationStore, 'find'>,
  { organizationId, judgeId, id }: Pick<JudgeCalibration, 'organizationId' | 'judgeId' | 'id'>,
): Promise<JudgeCalibration> {
  const found = await calibrations.find(organizationId, judgeId, id)
  if (found) return found
  throw new Fault('not_found', 'not_found', `There is no calibration ${id} of the judge ${judgeId}.`)
}
