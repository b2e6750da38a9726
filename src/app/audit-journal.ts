import { join } from 'node:path'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { createAuditBacklog, type AuditBacklog } from '../domain/audit/backlog.ts'
import type { EventMaker } from '../domain/audit/event/event-maker.ts'
import { createJournal, type Journal } from '../domain/audit/journal.ts'
import type { AuditAppender } from '../domain/audit/log.ts'
import { createAuditSpool } from '../adapters/stores/sql/audit/spool.ts'
import type { Infrastructure } from './infrastructure.ts'
import { logSetAside, setAsideHelp } from './storage/set-aside.ts'

export type AuditRequirement = {
  /** Whether the organization requires an audit event for every response, whatever the server's configuration is. */
  readonly isAuditRequired: (organizationId: string) => MaybePromise<boolean>
}

/** Not used with embedded storage, where the spool would be on the same disk as the log. */
export async function openBacklog(
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

type JournalTargets = AuditRequirement & {
  readonly events: EventMaker
  readonly appender: AuditAppender
  readonly backlog: AuditBacklog | null
}

export function openJournal(infrastructure: Infrastructure, targets: JournalTargets): Journal {
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
