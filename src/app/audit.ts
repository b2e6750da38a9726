import { dayMs } from '../base/clock.ts'
import type { EventMaker } from '../domain/audit/event/event-maker.ts'
import { reportAcceptedLosses } from '../adapters/stores/sql/audit/accepted-losses.ts'
import { createAuditAppender } from '../adapters/stores/sql/audit/chain.ts'
import { publishKeys, signAllChains, signDueChains } from '../adapters/stores/sql/audit/checkpoints.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { createPartitions } from '../adapters/stores/sql/audit/partitions.ts'
import { canStageBodies, packChains } from '../adapters/stores/sql/audit/pack.ts'
import { exportStore } from '../adapters/stores/sql/exports/sinks.ts'
import { withAudit, type RecordParts } from '../pipeline/record.ts'
import { createSinkTest, type SinkTest } from '../pipeline/export/test-sink.ts'
import type { Run } from '../pipeline/started-operation.ts'
import { openTrimming } from './audit-archive.ts'
import { createLockHistogram, reportLate, reportRewritten } from './audit-reports.ts'
import { openExports } from './exports.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'
import { openBacklog, openJournal, type AuditRequirement } from './audit-journal.ts'
import { openVerifications } from './features/audit-jobs.ts'
import { keptTextsOf } from './kept-texts.ts'

/** The services of the audit log: written by requests, signed, trimmed, and exported to sinks. */
export type AuditServices = AsyncDisposable & {
  readonly testSink: SinkTest
  /** That expired events could not be archived; undefined if they could. */
  archiveProblem(): string | undefined
  /** Adds audit events to the pipeline, if the configuration enables them, and reports the end of each request. */
  record(run: Run, onEnded: RecordParts['onEnded']): Run
}

export async function openAudit(
  infrastructure: Infrastructure,
  stores: Stores,
  requirement: AuditRequirement,
): Promise<AuditServices> {
  const { config, database, clock, ids, jobs, warn } = infrastructure
  const { audit, auditLog } = stores
  await using opened = new AsyncDisposableStack()
  const { canStage, pack } = await openPacking(database)
  const onLocked = createLockHistogram(infrastructure)
  const appender = createAuditAppender(infrastructure.requestWrites, { ...audit.events, canStage, clock, onLocked })
  const checkpoints = {
    database,
    clock,
    ...audit,
    onRewritten: reportRewritten(infrastructure),
    onLate: reportLate(infrastructure),
    onAppended: appender.setHead,
  }
  const { trim, archiveProblem } = openTrimming(
    { ...infrastructure, audit },
    {
      database,
      clock,
      events: audit.events,
      keepMs: config.audit.retention_days * dayMs,
      maxBacklogMs: config.exports.max_backlog_days * dayMs,
    },
  )
  await publishKeys(checkpoints)
  await reportLosses(infrastructure, audit.events)
  const warning = warn('the audit log could not be signed at shutdown; the next start signs it late')
  opened.defer(() => signAllChains(checkpoints).catch(warning))
  opened.use(jobs.start('sign-audit-log', () => signDueChains(checkpoints)))
  opened.use(jobs.start('pack-audit-log', pack))
  opened.use(jobs.start('trim-audit-log', trim))
  if (database.engine === 'postgres') opened.use(jobs.start('create-audit-partitions', () => partition(infrastructure)))
  openVerifications(infrastructure, stores, opened)
  const backlog = database.engine === 'sqlite' ? null : await openBacklog(infrastructure, appender, opened)
  const journal = openJournal(infrastructure, { ...requirement, events: audit.events, appender, backlog })
  const { open, testFile } = opened.use(await openExports(infrastructure, stores))
  const kept = opened.move()
  const recording = {
    ...keptTextsOf(infrastructure, stores),
    journal: config.audit.requests ? journal : null,
    clock,
  }
  return {
    testSink: createSinkTest({
      clock,
      ids,
      events: audit.events,
      appender,
      log: auditLog,
      sinks: exportStore(stores.reading, stores.encryptions.exportSecrets),
      open,
      testFile,
    }),
    archiveProblem,
    record: (run, onEnded) => withAudit(run, { ...recording, onEnded }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function openPacking(database: Database) {
  let isStaging = await canStageBodies(database)
  return {
    canStage: () => isStaging,
    async pack() {
      isStaging ||= await canStageBodies(database)
      await packChains(database)
    },
  }
}

async function partition({ config, database, clock, log }: Infrastructure): Promise<void> {
  const { retention_days: retentionDays } = config.audit
  const occupied = await createPartitions(database, { nowMs: clock.nowMs(), retentionDays })
  if (occupied.length === 0) return
  log.warn(
    { partitions: occupied.map(({ name }) => name) },
    'audit events with a time in the future are in the default partition, so it keeps all events of these days. Check the clocks of the nodes',
  )
}

/** Before the first request, because its cached heads of the chains must not be older than these events. */
async function reportLosses({ database, clock, log }: Infrastructure, events: EventMaker): Promise<void> {
  if (database.engine !== 'sqlite') return
  for (const loss of await reportAcceptedLosses(database, { events, clock }))
    log.error({ ...loss }, 'the redo log was damaged, and the operator accepted the loss of acknowledged writes')
}
