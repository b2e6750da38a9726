import type { EventFacts } from '../event/facts.ts'
import type { SinkEvent } from './delivery.ts'

type About = {
  readonly organizationId: string
  readonly sinkId: string
  readonly label: string
  readonly nowMs: number
}

/** How many event ids one sink event lists. */
const maxNamed = 20

/** A sink event as an event of the audit log. It reaches every other sink, and this one when it works again. */
export function sinkEventFacts(event: SinkEvent, { organizationId, sinkId, label, nowMs }: About): EventFacts {
  const { message, details } = describe(event)
  return {
    code: event.kind === 'damaged' ? 'audit.tamper_found' : `export.${event.kind}`,
    organizationId,
    timeMs: nowMs,
    message: `Export sink ${label === '' ? sinkId : `${label} (${sinkId})`}: ${message}`,
    resources: [{ type: 'export_sink', uid: sinkId }],
    details: { resource_id: sinkId, ...details },
    ...(event.kind !== 'recovered' && { failure: { code: event.kind } }),
  }
}

function describe(event: SinkEvent): { message: string; details: EventFacts['details'] } {
  switch (event.kind) {
    case 'dead_lettered': {
      const { events } = event
      const named = events.slice(0, maxNamed)
      return {
        message: `the destination will not take ${events.length === 1 ? 'an event' : `${events.length} events`}. ${events[0]?.reason ?? ''}`,
        details: { count: events.length, event_ids: named.map(({ id }) => id), reason: events[0]?.reason },
      }
    }
    case 'auth_error':
    case 'config_error':
      return { message: `paused. ${event.reason}`, details: { reason: event.reason } }
    case 'recovered':
      return { message: 'works again.', details: { failing_since: event.failingSinceMs } }
    case 'backlog_alarm':
      return {
        message: `${event.backlogEvents} events wait.`,
        details: { backlog_events: event.backlogEvents, oldest_unsent_at: event.oldestAtMs },
      }
    case 'gap':
      return {
        message: `events ${event.first} to ${event.last} were removed before it could get them.`,
        details: { first_sequence: event.first, last_sequence: event.last },
      }
    case 'damaged':
      return {
        message: `event ${event.sequence} of the audit log is damaged, and it goes on without it.`,
        details: { sequence: event.sequence },
      }
  }
}
