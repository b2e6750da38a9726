import { join } from 'node:path'
import { decisionCounts } from '../../adapters/stores/sql/policies/decision-counts.ts'
import { quotaStore } from '../../adapters/stores/sql/policies/quotas.ts'
import { removeSamples } from '../../adapters/stores/sql/audit/replay-sample.ts'
import { removeExpiredReplies } from '../../adapters/stores/sql/identity/idempotency.ts'
import { removeGateRuns } from '../../adapters/stores/sql/policies/gate.ts'
import { removeCalibrations } from '../../adapters/stores/sql/judges/calibrations.ts'
import { removeJudgeCounts } from '../../adapters/stores/sql/judges/counts.ts'
import { removeBacktests } from '../../adapters/stores/sql/policies/backtests.ts'
import { dayMs, hourMs } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { startExpiry } from '../../jobs/expiry.ts'
import { createResponseSpool } from '../../adapters/stores/sql/response-spool.ts'
import { storedResponses } from '../../adapters/stores/sql/stored-responses.ts'
import { withResponseBacklog } from '../../domain/inference/response-backlog.ts'
import type { StoredResponses } from '../../domain/inference/stored-responses.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { openLedgerFolding } from './ledger-folding.ts'
import { openRollup } from '../rollup.ts'
import { logSetAside, setAsideHelp } from './set-aside.ts'

/** Stored responses, and the jobs that sum up stored data and remove it at the end of its retention period, until the app is closed. */
export async function openStoredData(infrastructure: Infrastructure): Promise<StoredResponses> {
  const stored = await openStoredResponses(infrastructure)
  await openExpiry(infrastructure, stored)
  openRollup(infrastructure)
  openLedgerFolding(infrastructure)
  return stored
}

/** Stored responses, with a spool for the time without PostgreSQL. With embedded storage the spool would be on the same disk. */
async function openStoredResponses({
  built,
  spoolDir,
  database,
  metrics,
  jobs,
  clock,
  log,
}: Infrastructure): Promise<StoredResponses> {
  const kept = storedResponses(database)
  if (database.engine === 'sqlite') return kept
  const spool = built.use(createResponseSpool(join(spoolDir, 'response-spool')))
  const onSetAside = logSetAside(log, 'response')
  const { stored, waiting, setAside, flush, retry } = await withResponseBacklog({
    stored: kept,
    spool,
    clock,
    onSetAside,
  })
  metrics.gauge('gatehouse_responses_set_aside', setAsideHelp('Responses'), setAside)
  built.defer(async () => void (waiting() > 0 && (await flush())))
  built.use(jobs.start('flush-spooled-responses', retry))
  metrics.gauge(
    'gatehouse_responses_waiting',
    'Responses on this node’s disk that are not written to the database yet.',
    waiting,
  )
  return stored
}

async function openExpiry(
  { built, config, database, clock, ids, jobs }: Infrastructure,
  responses: Pick<StoredResponses, 'removeExpired'>,
): Promise<void> {
  const quotas = quotaStore(database)
  const decisions = decisionCounts(database, ids)
  // The lock on the data folder proves that the process which made these reservations is dead.
  if (database.engine === 'sqlite') await quotas.releaseExpired(Number.MAX_SAFE_INTEGER)
  built.use(
    startExpiry(jobs, clock, {
      removeExpiredIdempotencyKeys: (nowMs) => removeExpiredReplies(database, nowMs),
      removeExpiredResponses: (nowMs) => responses.removeExpired(nowMs),
      releaseExpiredReservations: (nowMs) => quotas.releaseExpired(nowMs),
      removeEndedQuotas: (beforeMs) => quotas.removeEnded(beforeMs),
      removeDecisionCallers: (beforeMinute) => decisions.removeCallersBefore(beforeMinute),
      removeDenialSpikes: (beforeMinute) => decisions.removeSpikesBefore(beforeMinute),
      removeBacktests: (beforeMs) => removeBacktests(database, beforeMs),
      removeGateRuns: (beforeMs) => removeGateRuns(database, beforeMs),
      removeSamples: (nowMs) => removeSamples(database, nowMs - sampleMsOf(config)),
      async removeJudgeCounts(before) {
        await removeJudgeCounts(database, before)
        await removeCalibrations(database, before.beforeMs)
      },
    }),
  )
}

/** No longer than the events. Below zero without a sample: those of this hour are removed as well. */
const sampleMsOf = ({ audit }: Config): number =>
  audit.replay_sample === undefined ? -hourMs : Math.min(audit.replay_sample.days, audit.retention_days) * dayMs
