import { join } from 'node:path'
import { dayMs } from '../base/clock.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { createAuditBacklog, type AuditBacklog } from '../domain/audit/backlog.ts'
import type { EventMaker } from '../domain/audit/event/event-maker.ts'
import { createJournal, type Journal } from '../domain/audit/journal.ts'
import type { AuditAppender } from '../domain/audit/log.ts'
import { redactIrreversibly } from '../domain/scan/detect/personal-data/redact.ts'
import { reportAcceptedLosses } from '../adapters/stores/sql/audit/accepted-losses.ts'
import { createAuditAppender } from '../adapters/stores/sql/audit/chain.ts'
import { publishKeys, signAllChains, signDueChains } from '../adapters/stores/sql/audit/checkpoints.ts'
import { releaseVerificationLeases, verificationQueue } from '../adapters/stores/sql/audit/verifications.ts'
import { createVerificationRunner } from '../domain/audit/verification/runner.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { createPartitions } from '../adapters/stores/sql/audit/partitions.ts'
import { canStageBodies, packChains } from '../adapters/stores/sql/audit/pack.ts'
import { createAuditSpool } from '../adapters/stores/sql/audit/spool.ts'
import { exportStore } from '../adapters/stores/sql/exports/sinks.ts'
import { withAudit, type RecordParts } from '../pipeline/record.ts'
import { createSinkTest, type SinkTest } from '../pipeline/export/test-sink.ts'
import type { Run } from '../pipeline/run.ts'
import { openTrimming } from './audit-archive.ts'
import { createAuditVerifier } from './audit-verifier.ts'
import { createLockHistogram, reportLate, reportRewritten } from './audit-reports.ts'
import { openExports } from './exports.ts'
import type { Infrastructure } from './infrastructure.ts'
import { logSetAside, setAsideHelp } from './storage/set-aside.ts'
import type { Stores } from './stores.ts'

/** The services of the audit log: written by requests, signed, trimmed, and exported to sinks. */
export type AuditServices = AsyncDisposable & {
  readonly testSink: SinkTest
  /** That expired events could not be archived; undefined if they could. */
  archiveProblem(): string | undefined
  /** Adds audit events to the pipeline, if the configuration enables them, and reports the end of each request. */
  record(run: Run, onEnded: RecordParts['onEnded']): Run
}

type Requirements = {
  /** Whether the organization requires an audit event for every response, whatever the server's configuration is. */
  readonly isAuditRequired: (organizationId: string) => MaybePromise<boolean>
}

export async function openAudit(
  infrastructure: Infrastructure,
  stores: Stores,
  requirements: Requirements,
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
  const journal = openJournal(infrastructure, { ...requirements, events: audit.events, appender, backlog })
  const { open } = opened.use(await openExports(infrastructure, stores))
  const kept = opened.move()
  const { requests: isRecording, content } = config.audit
  const recording = { journal: isRecording ? journal : null, clock, content, redact: redactIrreversibly }
  return {
    testSink: createSinkTest({
      clock,
      ids,
      events: audit.events,
      appender,
      log: auditLog,
      sinks: exportStore(stores.reading, stores.encryptions.exportSecrets),
      open,
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

const verificationLeaseMs = 60_000

/** Runs the verifications that administrators start, until the app is closed. */
function openVerifications(infrastructure: Infrastructure, stores: Stores, opened: AsyncDisposableStack): void {
  const { database, clock, ids, jobs, warn, verification } = infrastructure
  if (database.engine === 'sqlite') {
    void releaseVerificationLeases(database).catch(
      warn('the lease of a verification could not be released; it waits for a minute'),
    )
  }
  const runner = opened.use(
    createVerificationRunner({
      queue: verificationQueue({ database, clock, owner: ids('node'), leaseMs: verificationLeaseMs }),
      verify: createAuditVerifier({ clock, stores, verification }),
      clock,
      onError: warn('a verification of the audit log failed'),
    }),
  )
  opened.use(jobs.start('verify-audit-logs', runner.run))
}

/** Not used with embedded storage, where the spool would be on the same disk as the log. */
async function openBacklog(
  { spoolDir, metrics, jobs, clock, log }: Infrastructure,
  appender: AuditAppender,
  opened: AsyncDisposableStack,
): Promise<AuditBacklog> {
  const spool = opened.use(createAuditSpool(join(spoolDir, 'audit-spool')))
  const backlog = await createAuditBacklog({ appender, spool, clock, onSetAside: logSetAside(log, 'audit event') })
  opened.defer(async () => void (backlog.waiting() > 0 && (await backlog.flush())))
  opened.use(jobs.start('flush-spooled-audit-events', backlog.retry))
  metrics.gauge('gatehouse_audit_events_set_aside', setAsideHelp('Events'), backlog.setAside)
  metrics.gauge(
    'gatehouse_audit_events_waiting',
    'Events on this node’s disk that are not written to the log yet.',
    () => backlog.waiting(),
  )
  return backlog
}

type JournalTargets = Requirements & {
  readonly events: EventMaker
  readonly appender: AuditAppender
  readonly backlog: AuditBacklog | null
}

function openJournal(infrastructure: Infrastructure, targets: JournalTargets): Journal {
  const { config, clock, log, metrics, storage } = infrastructure
  const { events, appender, backlog, isAuditRequired } = targets
  const lost = metrics.counter('gatehouse_audit_events_lost_total', 'Events that could not be written.', {})
  return createJournal({
    appender,
    events,
    clock,
    isAuditRequired: (organizationId) => config.audit.on_failure === 'refuse' || isAuditRequired(organizationId),
    outage: () => storage.database(),
    backlog: backlog && {
      async keep(unwritten) {
        if (backlog.waiting() === 0)
          log.error('the audit log cannot be written; events are spooled on the disk of this node')
        await backlog.keep(unwritten)
      },
    },
    onLost(count, cause) {
      lost.add({}, count)
      log.error({ count, error: String(cause) }, 'events could not be written to the audit log')
    },
  })
}
