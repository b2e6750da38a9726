import { judgeAlarmStore } from '../adapters/stores/sql/judges/alarms.ts'
import { calibrationStore } from '../adapters/stores/sql/judges/calibrations.ts'
import { judgeCountStore, judgeCountWriter } from '../adapters/stores/sql/judges/counts.ts'
import { activeJudgeVersions } from '../adapters/stores/sql/judges/judges.ts'
import { driftKinds } from '../domain/judges/drift.ts'
import { createJudgeTally, type JudgeTally } from '../domain/judges/tally.ts'
import { createJudgeWatch } from '../domain/judges/watch.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** Counts what judges are asked, and notices when one drifts. */
export function openJudgeTally(infrastructure: Infrastructure, stores: Stores): JudgeTally {
  const { built, clock, ids, database, jobs, log, metrics } = infrastructure
  const alarms = metrics.counter('gatehouse_judge_alarms_total', 'Alarms about judges that began, by kind.', {
    kind: driftKinds,
  })
  for (const kind of driftKinds) alarms.add({ kind }, 0)
  const watch = createJudgeWatch({
    ...stores.of((tx) => ({
      alarms: judgeAlarmStore(tx),
      calibrations: calibrationStore(tx),
      counts: judgeCountStore(tx),
    })),
    activeVersions: () => activeJudgeVersions(database),
    clock,
    ids,
    onAlarm(kind, { organizationId, judgeId, version, text }) {
      alarms.add({ kind })
      log.warn({ organizationId, judgeId, version, kind }, `a judge drifts: ${text}`)
    },
  })
  const tally = createJudgeTally({ writer: judgeCountWriter(database), onSeen: watch.onSeen, clock, ids })
  built.defer(() => tally.flush().catch(() => undefined))
  built.use(jobs.start('write-judge-counts', tally.flush))
  built.use(jobs.start('watch-judges', watch.run))
  return tally
}
