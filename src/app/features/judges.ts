import { judgeAlarmStore } from '../../adapters/stores/sql/judges/alarms.ts'
import { calibrationStore } from '../../adapters/stores/sql/judges/calibrations.ts'
import { judgeCountStore } from '../../adapters/stores/sql/judges/counts.ts'
import { judgeStore } from '../../adapters/stores/sql/judges/judges.ts'
import { appealStore } from '../../adapters/stores/sql/policies/appeals.ts'
import { caseStore } from '../../adapters/stores/sql/policies/cases.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { createActivateJudge } from '../../domain/judges/activation.ts'
import { createEndUnusedAlarms } from '../../domain/judges/alarms.ts'
import { createJudgeAdministration } from '../../domain/judges/mutations.ts'
import { createCalibrationAdministration } from '../../domain/judges/start-calibration.ts'
import { judgeVersionOf } from '../../domain/policy/judge-prompt.ts'
import { calibrationRoutes } from '../../http/admin/judges/calibration-routes.ts'
import { judgeCountRoutes } from '../../http/admin/judges/count-routes.ts'
import { judgeActions } from '../../http/admin/judges/action-routes.ts'
import { judgeMutations } from '../../http/admin/judges/mutations.ts'
import { judgeRoutes } from '../../http/admin/judges/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** Judges, their calibrations, costs and comparisons. */
export function createJudges(
  { config, clock, ids, stores }: FeatureParts,
  { modelSetOf }: Pick<RunningServerParts, 'modelSetOf'>,
): Feature {
  const own = stores.of((tx) => ({
    judges: judgeStore(tx),
    calibrations: calibrationStore(tx),
    judgeCounts: judgeCountStore(tx),
    judgeAlarms: judgeAlarmStore(tx),
    policies: policyStore(tx),
    cases: caseStore(tx, stores.encryptions.caseTexts),
    appeals: appealStore(tx, stores.encryptions.appealTexts),
    events: stores.eventsIn(tx),
  }))
  const settings = config.policies.judge
  const fileSubject = settings && judgeVersionOf(settings.model)
  const fileJudge = settings && {
    model: settings.model,
    timeoutMs: settings.timeout_ms,
    fail: settings.fail,
    maxUsdPerDay: settings.max_usd_per_day,
  }
  const endUnusedAlarms = createEndUnusedAlarms({ clock, hasFileJudge: settings !== undefined })
  const administration = createJudgeAdministration({ ids, clock, endUnusedAlarms })
  const activation = createActivateJudge({ clock, fileSubject, endUnusedAlarms })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...judgeRoutes(routes, { activation, fileJudge }),
        ...judgeMutations(routes, { administration, activation, modelSetOf }),
        ...judgeActions(routes, { administration, activation }),
        ...calibrationRoutes(routes, {
          administration: createCalibrationAdministration({ ids, clock }),
          fileSubject,
          clock,
        }),
        ...judgeCountRoutes(routes, { clock, hasFileJudge: settings !== undefined }),
      ]
    },
  }
}
