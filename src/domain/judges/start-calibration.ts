import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { CaseStore, Expectation, PolicyCase } from '../cases/case.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { thresholdOf } from '../policy/content.ts'
import type { Policy } from '../policy/policy.ts'
import { expressionOf } from '../policy/rule.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { JudgeCalibration, CalibrationItem, CalibrationStore } from './calibration.ts'
import { injectionAttempts } from './injection-attempts.ts'
import { calibrationRounds } from './report.ts'

export type CalibrationStores = {
  readonly calibrations: CalibrationStore
  readonly policies: Pick<PolicyStore, 'find' | 'list'>
  readonly cases: Pick<CaseStore, 'all'>
}

/** What is calibrated: a version of a judge, or the judge of the configuration with the version 0. */
export type CalibrationSubject = Pick<JudgeCalibration, 'organizationId' | 'judgeId' | 'version' | 'subject'>

/** Of one calibration. Each label is two questions. */
const maxItems = 2_000
/** Calibrations run one after the other, so more would only wait. */
const maxRunning = 5

type Parts = { readonly ids: Ids; readonly clock: Clock }
export type CalibrationAdministration = ReturnType<typeof createCalibrationAdministration>

/** Starts and cancels calibrations. */
export function createCalibrationAdministration({ ids, clock }: Parts) {
  return {
    async start(
      stores: CalibrationStores,
      subject: CalibrationSubject,
      createdBy: string,
    ): Promise<WithAuditRecord<JudgeCalibration>> {
      if ((await stores.calibrations.countRunning(subject.organizationId)) >= maxRunning)
        throw new Fault('conflict', 'invalid_state', `${maxRunning} calibrations are running already; wait for one.`)
      const { items, leftOut } = await labelsOf(stores, subject.organizationId)
      if (items.length === 0) {
        const message =
          'There are no labels to calibrate with. Write cases for the policies whose rule is in plain language.'
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

type Labels = { readonly items: readonly CalibrationItem[]; readonly leftOut: number }

/** The cases of all policies whose rule is in plain language. */
async function labelsOf({ policies, cases }: CalibrationStores, organizationId: string): Promise<Labels> {
  const items: CalibrationItem[] = []
  let leftOut = 0
  for await (const policy of judgedPolicies(policies, organizationId)) {
    const threshold = thresholdOf(policy.published ?? policy.draft)
    for (const one of await cases.all({ organizationId, policyId: policy.id })) {
      const expected = expectedOf(one.expected, threshold)
      if (expected === undefined || items.length >= maxItems) continue
      if (isLabelledByPerson(one)) items.push({ policyId: policy.id, caseId: one.id, expected })
      else leftOut += 1
    }
  }
  return { items, leftOut }
}

async function* judgedPolicies(
  policies: CalibrationStores['policies'],
  organizationId: string,
): AsyncGenerator<Policy> {
  let after: string | undefined
  for (;;) {
    const page = await policies.list(organizationId, {
      limit: 100,
      order: 'asc',
      ...(after !== undefined && { after }),
    })
    for (const { id } of page.items) {
      const policy = await policies.find(organizationId, id)
      if (policy && expressionOf((policy.published ?? policy.draft).rule) === undefined) yield policy
    }
    after = page.items.at(-1)?.id
    if (!page.hasMore || after === undefined) return
  }
}

/** A case that was made from a replay says what the draft said, until a person changes what is expected. */
const isLabelledByPerson = ({ origin, labelledAtMs, createdAtMs }: PolicyCase): boolean =>
  origin !== 'replay' || labelledAtMs > createdAtMs

/** A range that the threshold divides is no label. */
function expectedOf(expected: Expectation, threshold: number): CalibrationItem['expected'] | undefined {
  if (typeof expected === 'string') return expected
  const { atLeast = 0, atMost = 10_000 } = expected
  if (atLeast >= threshold) return 'match'
  return atMost < threshold ? 'no_match' : undefined
}
