import { join } from 'node:path'
import { dayMs } from '../base/clock.ts'
import { createAuditBacklog, type AuditBacklog } from '../domain/audit/backlog.ts'
import { createJournal, type Journal } from '../domain/audit/journal.ts'
import type { AuditAppender } from '../domain/audit/log.ts'
import { redactIrreversibly } from '../domain/scan/detect/personal-data/redact.ts'
import { reportAcceptedLosses } from '../adapters/stores/sql/audit/accepted-losses.ts'
import { createAuditAppender } from '../adapters/stores/sql/audit/chain.ts'
import {
  publishKeys,
  signAllChains,
  signDueChains,
  type CheckpointParts,
} from '../adapters/stores/sql/audit/checkpoints.ts'
import { releaseVerificationLeases, verificationQueue } from '../adapters/stores/sql/audit/verifications.ts'
import { createVerificationRunner } from '../domain/audit/verification/runner.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { createPartitions } from '../adapters/stores/sql/audit/partitions.ts'
import { canStageBodies, packChains } from '../adapters/stores/sql/audit/pack.ts'
import { createAuditSpool } from '../adapters/stores/sql/audit/spool.ts'
import { withAudit, type RecordParts } from '../pipeline/record.ts'
import { createSinkTest, type SinkTest } from '../pipeline/export/test-sink.ts'
import type { Run } from '../pipeline/run.ts'
import { openTrimming } from './audit-archive.ts'
import type { AuditServicesParts } from './audit-parts.ts'
import { openExports } from './exports.ts'
import { logSetAside, setAsideHelp } from './storage/set-aside.ts'

/** The services of the audit log: written by requests, signed, trimmed, and exported to sinks. */
export type AuditServices = AsyncDisposable & {
  readonly testSink: SinkTest
  /** That expired events could not be archived; undefined if they could. */
  archiveProblem(): string | undefined
  /** Adds audit events to the pipeline, if the configuration enables them, and reports the end of each request. */
  record(run: Run, onEnded: RecordParts['onEnded']): Run
}

export async function openAudit(parts: AuditServicesParts): Promise<AuditServices> {
  const { config, database, clock, audit, reads, jobs, warn } = parts
  await using opened = new AsyncDisposableStack()
  const { canStage, pack } = await openPacking(database)
  const onLocked = createLockHistogram(parts)
  const appender = createAuditAppender(parts.requestWrites, { ...audit.events, canStage, clock, onLocked })
  const checkpoints = {
    database,
    clock,
    ...audit,
    onRewritten: reportRewritten(parts),
    onLate: reportLate(parts),
    onAppended: appender.setHead,
  }
  const { trim, archiveProblem } = openTrimming(parts, {
    database,
    clock,
    events: audit.events,
    keepMs: config.audit.retention_days * dayMs,
    maxBacklogMs: config.exports.max_backlog_days * dayMs,
  })
  await publishKeys(checkpoints)
  await reportLosses(parts)
  const warning = warn('the audit log could not be signed at shutdown; the next start signs it late')
  opened.defer(() => signAllChains(checkpoints).catch(warning))
  opened.use(jobs.start('sign-audit-log', () => signDueChains(checkpoints)))
  opened.use(jobs.start('pack-audit-log', pack))
  opened.use(jobs.start('trim-audit-log', trim))
  if (database.engine === 'postgres') opened.use(jobs.start('create-audit-partitions', () => partition(parts)))
  openVerifications(parts, opened)
  const backlog = database.engine === 'sqlite' ? null : await openBacklog(parts, appender, opened)
  const journal = openJournal(parts, appender, backlog)
  const { open } = opened.use(await openExports(parts))
  const kept = opened.move()
  const { requests: isRecording, content } = config.audit
  const recording = { journal: isRecording ? journal : null, clock, content, redact: redactIrreversibly }
  return {
    testSink: createSinkTest({
      ...parts,
      events: audit.events,
      appender,
      log: parts.auditLog,
      sinks: reads.exports,
      open,
    }),
    archiveProblem,
    record: (run, onEnded) => withAudit(run, { ...recording, onEnded }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Undefined with embedded storage, where nothing locks the head of a chain. */
function createLockHistogram({ database, metrics }: AuditServicesParts): ((waitMs: number) => void) | undefined {
  if (database.engine === 'sqlite') return undefined
  const histogram = metrics.histogram(
    'gatehouse_audit_lock_wait_seconds',
    'The time that an append to an audit log waited for a connection and for the appends of other nodes.',
    { labels: {}, buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] },
  )
  const observe = histogram.series({})
  return (waitMs) => observe(waitMs / 1000)
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

async function partition({ config, database, clock, log }: AuditServicesParts): Promise<void> {
  const { retention_days: retentionDays } = config.audit
  const occupied = await createPartitions(database, { nowMs: clock.nowMs(), retentionDays })
  if (occupied.length === 0) return
  log.warn(
    { partitions: occupied.map(({ name }) => name) },
    'audit events with a time in the future are in the default partition, so it keeps all events of these days. Check the clocks of the nodes',
  )
}

/** Before the first request, because its cached heads of the chains must not be older than these events. */
async function reportLosses({ database, audit, clock, log }: AuditServicesParts): Promise<void> {
  if (database.engine !== 'sqlite') return
  for (const loss of await reportAcceptedLosses(database, { events: audit.events, clock }))
    log.error({ ...loss }, 'the redo log was damaged, and the operator accepted the loss of acknowledged writes')
}

const verificationLeaseMs = 60_000

/** Runs the verifications that administrators start, until the app is closed. */
function openVerifications(parts: AuditServicesParts, opened: AsyncDisposableStack): void {
  const { database, clock, ids, jobs, warn } = parts
  if (database.engine === 'sqlite') {
    void releaseVerificationLeases(database).catch(
      warn('the lease of a verification could not be released; it waits for a minute'),
    )
  }
  const runner = opened.use(
    createVerificationRunner({
      queue: verificationQueue({ database, clock, owner: ids('node'), leaseMs: verificationLeaseMs }),
      verify: parts.verifyAuditLog,
      clock,
      onError: warn('a verification of the audit log failed'),
    }),
  )
  opened.use(jobs.start('verify-audit-logs', runner.run))
}

function reportRewritten({ log, metrics }: AuditServicesParts): CheckpointParts['onRewritten'] {
  const rewritten = metrics.counter(
    'gatehouse_audit_rewritten_total',
    'Attempts to sign an audit log that no longer contains the events that this process signed.',
    {},
  )
  return (organization, { sequence }) => {
    rewritten.add({})
    log.error(
      { organization, sequence },
      'the audit log no longer has the checkpoint that this node signed: it was rewritten or restored, and is not signed. If you restored it, remove the folder checkpoints of the data folder and restart',
    )
  }
}

function reportLate({ log, metrics }: AuditServicesParts): CheckpointParts['onLate'] {
  const late = metrics.counter(
    'gatehouse_audit_signed_late_total',
    'Checkpoints over events that were not signed in time, because no service ran or checkpoints were removed.',
    {},
  )
  return (organization, range) => {
    late.add({})
    log.error(
      { organization, ...range },
      'events of the audit log were signed late: nothing proves what happened to them before',
    )
  }
}

/** Not used with embedded storage, where the spool would be on the same disk as the log. */
async function openBacklog(
  { spoolDir, metrics, jobs, clock, log }: AuditServicesParts,
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

function openJournal(parts: AuditServicesParts, appender: AuditAppender, backlog: AuditBacklog | null): Journal {
  const { config, clock, log, metrics, audit, storage, isAuditRequired } = parts
  const lost = metrics.counter('gatehouse_audit_events_lost_total', 'Events that could not be written.', {})
  return createJournal({
    appender,
    events: audit.events,
    clock,
    isAuditRequired: (organizationId) => config.audit.on_failure === 'refuse' || isAuditRequired(organizationId),
    outage: () => storage.database(),
    backlog: backlog && {
      async keep(events) {
        if (backlog.waiting() === 0)
          log.error('the audit log cannot be written; events are spooled on the disk of this node')
        await backlog.keep(events)
      },
    },
    onLost(count, cause) {
      lost.add({}, count)
      log.error({ count, error: String(cause) }, 'events could not be written to the audit log')
    },
  })
}
