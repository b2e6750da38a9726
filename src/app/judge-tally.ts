import { judgeAlarmStore, organizationsWithAlarms } from '../adapters/stores/sql/judges/alarms.ts'
import { calibrationStore } from '../adapters/stores/sql/judges/calibrations.ts'
import { judgeCountStore, judgeCountWriter } from '../adapters/stores/sql/judges/counts.ts'
import { activeJudgeVersions, judgeStore, organizationsOfFileJudge } from '../adapters/stores/sql/judges/judges.ts'
import { policyStore } from '../adapters/stores/sql/policies/policies.ts'
import { dayMs } from '../base/clock.ts'
import { driftKinds } from '../domain/judges/drift.ts'
import { createJudgeTally, type JudgeTally } from '../domain/judges/tally.ts'
import { createJudgeWatch, type JudgeWatchParts } from '../domain/judges/watch.ts'
import { createWatchedFileJudge, watchedVersion, type WatchedJudge } from '../domain/judges/watched.ts'
import { judgeVersionOf } from '../domain/policy/judge-prompt.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** Counts what judges are asked, and notices when one drifts. */
export function openJudgeTally(infrastructure: Infrastructure, stores: Stores): JudgeTally {
  const { built, clock, ids, config, database, jobs, log, metrics } = infrastructure
  const alarms = metrics.counter('gatehouse_judge_alarms_total', 'Alarms about judges that began, by kind.', {
    kind: driftKinds,
  })
  for (const kind of driftKinds) alarms.add({ kind }, 0)
  const watch = createJudgeWatch({
    ...stores.of((tx) => ({
      judges: judgeStore(tx),
      judgeAlarms: judgeAlarmStore(tx),
      calibrations: calibrationStore(tx),
      counts: judgeCountStore(tx),
    })),
    findWatched: watchedJudges(infrastructure, stores),
    findAlarmed: () => organizationsWithAlarms(database),
    hasFileJudge: config.policies.judge !== undefined,
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

/** The active judges of organizations, and the judge of the configuration for those that use it. */
function watchedJudges(
  { config, clock, database }: Infrastructure,
  { reading }: Stores,
): JudgeWatchParts['findWatched'] {
  const settings = config.policies.judge
  const watchedFile = createWatchedFileJudge({
    calibrations: calibrationStore(reading),
    policies: policyStore(reading),
    subject: settings && judgeVersionOf(settings.model),
  })
  return async () => {
    const active = (await activeJudgeVersions(database)).map(watchedVersion)
    if (settings === undefined) return active
    const yesterday = Math.floor(clock.nowMs() / dayMs) - 1
    const organizations = await organizationsOfFileJudge(database, yesterday)
    const watched: WatchedJudge[] = active
    for (const organizationId of organizations) {
      const judge = await watchedFile(organizationId)
      if (judge) watched.push(judge)
    }
    return watched
  }
}
