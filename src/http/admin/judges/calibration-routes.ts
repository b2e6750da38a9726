import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import { nothingLeftOut } from '../../../domain/judges/calibration.ts'
import { fileJudgeId } from '../../../domain/judges/judge.ts'
import { collectLabels, type CollectedLabels, type LabelStores } from '../../../domain/judges/labels.ts'
import { findJudge, findVersion } from '../../../domain/judges/mutations.ts'
import {
  findCalibration,
  type CalibrationAdministration,
  type CalibrationSubject,
} from '../../../domain/judges/start-calibration.ts'
import { subjectOf } from '../../../domain/judges/watched.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { presentCalibration, type JudgeReads } from './present.ts'
import * as Report from './report-schema.ts'
import { judgeAt, judgePath } from './paths.ts'
import { JudgeParams, StartCalibration } from './schema.ts'

const path = `${judgePath}/calibrations`
const one = `${path}/{calibration_id}`
const answer = { description: 'The calibration.', schema: Report.CalibrationObject }

export type CalibrationRouteParts = {
  readonly administration: CalibrationAdministration
  /** What the judge of the configuration asks; undefined if there is none. */
  readonly fileSubject: string | undefined
  readonly clock: Pick<Clock, 'nowMs'>
}

/** Calibrations of judges on labelled texts. */
export function calibrationRoutes(
  { read, mutation }: AdminRoutes<JudgeReads & LabelStores>,
  { administration, fileSubject, clock }: CalibrationRouteParts,
): Route[] {
  return [
    mutation({
      name: 'startJudgeCalibration',
      method: 'POST',
      path,
      summary: 'Calibrate a judge',
      description:
        'Asks the judge twice about every case of policies whose rule is in plain language and about the texts of labelled appeals about them, and once about 60 texts that try to talk it round. Runs in the background: poll it until its status is `completed`. Its cost counts against the budget of the day; without budget it waits. Only labels by people count.',
      permission: 'judges:write',
      params: JudgeParams,
      query: none,
      body: StartCalibration,
      status: 201,
      answer,
      prepare: (reads, { actor }) =>
        collectLabels(reads, { organizationId: actor.organization.id, nowMs: clock.nowMs() }),
      async operation(stores, { actor, params, body, prepared: labels = noLabels }) {
        const subject = await subjectAt(stores, judgeAt(actor, params), body.version)
        return administration.start(stores, { subject, labels, createdBy: actor.id })
      },
      present: presentCalibration,
    }),
    read({
      name: 'listJudgeCalibrations',
      path,
      summary: 'List the calibrations of a judge',
      description: 'With the nightly checks of an active judge.',
      permission: 'judges:read',
      params: JudgeParams,
      query: listQuery({}),
      answer: { description: 'A page of calibrations.', schema: Report.CalibrationList },
      async operation(stores, { actor, params, query }) {
        const { organizationId, id } = await requireJudge(stores, judgeAt(actor, params))
        return presentList(await stores.calibrations.list(organizationId, id, pageOf(query)), presentCalibration)
      },
    }),
    read({
      name: 'getJudgeCalibration',
      path: one,
      summary: 'Read a calibration of a judge',
      permission: 'judges:read',
      params: Report.CalibrationParams,
      query: none,
      answer,
      async operation(stores, { actor, params }) {
        const { organizationId, id } = await requireJudge(stores, judgeAt(actor, params))
        const of = { organizationId, judgeId: id, id: params.calibration_id }
        return presentCalibration(await findCalibration(stores.calibrations, of))
      },
    }),
    mutation({
      name: 'cancelJudgeCalibration',
      method: 'POST',
      path: `${one}/cancel`,
      summary: 'Cancel a calibration of a judge',
      description: 'A running calibration ends without a result. One that has ended stays as it is.',
      permission: 'judges:write',
      params: Report.CalibrationParams,
      query: none,
      body: none,
      answer,
      async operation(stores, { actor, params }) {
        const { organizationId, id } = await requireJudge(stores, judgeAt(actor, params))
        return administration.cancel(stores, { organizationId, judgeId: id, id: params.calibration_id })
      },
      present: presentCalibration,
    }),
  ]

  async function subjectAt(stores: JudgeReads, at: JudgeId, number: number | undefined): Promise<CalibrationSubject> {
    if (at.id === fileJudgeId) {
      if (fileSubject === undefined) throw noFileJudge()
      if (number !== undefined) throw invalidField(['version'], 'must be left out: this judge has no versions')
      return { organizationId: at.organizationId, judgeId: fileJudgeId, version: 0, subject: fileSubject }
    }
    const judge = await findJudge(stores.judges, at)
    const version = number === undefined ? judge.latest : await findVersion(stores.judges, judge, number)
    return { organizationId: at.organizationId, judgeId: at.id, version: version.version, subject: subjectOf(version) }
  }

  async function requireJudge(stores: JudgeReads, at: JudgeId): Promise<JudgeId> {
    if (at.id !== fileJudgeId) await findJudge(stores.judges, at)
    else if (fileSubject === undefined) throw noFileJudge()
    return at
  }
}

const noLabels: CollectedLabels = { items: [], leftOut: nothingLeftOut }

type JudgeId = { readonly organizationId: string; readonly id: string }

const noFileJudge = (): Fault => new Fault('not_found', 'not_found', 'There is no judge in the configuration.')
