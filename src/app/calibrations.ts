import { calibrationQueue, releaseCalibrationLeases } from '../adapters/stores/sql/judges/calibrations.ts'
import { judgeStore } from '../adapters/stores/sql/judges/judges.ts'
import { appealStore } from '../adapters/stores/sql/policies/appeals.ts'
import { caseStore } from '../adapters/stores/sql/policies/cases.ts'
import { policyStore } from '../adapters/stores/sql/policies/policies.ts'
import { createRunCases } from '../domain/cases/run.ts'
import type { Simulate } from '../domain/evaluation/simulate.ts'
import { thresholdsOf } from '../domain/judges/activation.ts'
import { createAskCalibrated } from '../domain/judges/ask-calibrated.ts'
import type { JudgeCalibration } from '../domain/judges/calibration.ts'
import { createFindLabelled } from '../domain/judges/find-labelled.ts'
import { fileJudgeId } from '../domain/judges/judge.ts'
import { createCalibrationRunner } from '../domain/judges/runner.ts'
import { scenarioDecoder, type DecodeBody } from '../http/resources/scenario.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { OpenJudges } from './judges.ts'
import type { Stores } from './stores.ts'

const leaseMs = 120_000

type CalibrationParts = {
  readonly judges: OpenJudges
  readonly simulate: Simulate
  readonly decodeBody: DecodeBody
}

/** Runs calibrations until the app is closed. */
export function openCalibrations(
  infrastructure: Infrastructure,
  stores: Stores,
  { judges, simulate, decodeBody }: CalibrationParts,
): void {
  const { built, config, database, clock, ids, jobs, warn } = infrastructure
  if (database.engine === 'sqlite') {
    void releaseCalibrationLeases(database).catch(
      warn('the lease of a calibration could not be released; it waits for two minutes'),
    )
  }
  const stored = judgeStore(stores.reading)
  const policies = policyStore(stores.reading)
  const cases = caseStore(stores.reading, stores.encryptions.caseTexts)
  const appeals = appealStore(stores.reading, stores.encryptions.appealTexts)
  const versionOf = ({ organizationId, judgeId, version }: JudgeCalibration) =>
    stored.findVersion({ organizationId, judgeId, version })
  const runner = built.use(
    createCalibrationRunner({
      queue: calibrationQueue({ database, clock, owner: ids('node'), leaseMs }),
      findLabelled: createFindLabelled({ policies, cases, appeals, events: stores.auditLog }),
      ask: createAskCalibrated({
        runCases: createRunCases({ simulate, clock }),
        scenarioOf: scenarioDecoder(decodeBody, 'calibration'),
        clock,
        async openJudge(calibration, hooks) {
          if (calibration.judgeId === fileJudgeId) return judges.openFile?.(hooks)
          const version = await versionOf(calibration)
          return version && judges.openVersion(version, hooks)
        },
      }),
      thresholdsOf: (calibration) => thresholdsOf(policies, calibration),
      timeoutMsOf: async (calibration) =>
        (await versionOf(calibration))?.timeoutMs ?? config.policies.judge?.timeout_ms ?? 0,
      clock,
      onError: warn('a calibration failed'),
    }),
  )
  built.use(jobs.start('run-calibrations', runner.run))
}
