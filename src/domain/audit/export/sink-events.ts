import type { EventFacts } from '../event/facts.ts'
import type { SinkEvent } from './delivery.ts'

type About = {
  readonly organizationId: string
  readonly sinkId: string
  readonly label: string
  readonly nowMs: number
}

/** How many events one piece of news names. */
const maxNamed = 20

/** What happened to a sink, as an event of the log: it reaches every other sink, and this one when it works again. */
export function sinkEventFacts(news: SinkEvent, { organizationId, sinkId, label, nowMs }: About): EventFacts {
  const told = tell(news)
  return {
    code: news.kind === 'damaged' ? 'audit.tamper_found' : `export.${news.kind}`,
    organizationId,
    timeMs: nowMs,
    message: `Export sink ${label === '' ? sinkId : `${label} (${sinkId})`}: ${told.message}`,
    resources: [{ type: 'export_sink', uid: sinkId }],
    details: { resource_id: sinkId, ...told.details },
    ...(news.kind !== 'recovered' && { failure: { code: news.kind } }),
  }
}

function tell(news: SinkEvent): { message: string; details: EventFacts['details'] } {
  switch (news.kind) {
    case 'dead_lettered': {
      const { events } = news
      const named = events.slice(0, maxNamed)
      return {
        message: `the destination will not take ${events.length === 1 ? 'an event' : `${events.length} events`}. ${events[0]?.reason ?? ''}`,
        details: { count: events.length, event_ids: named.map(({ id }) => id), reason: events[0]?.reason },
      }
    }
    case 'auth_error':
    case 'config_error':
      return { message: `paused. ${news.reason}`, details: { reason: news.reason } }
    case 'recovered':
      return { message: 'works again.', details: { failing_since: news.failingSinceMs } }
    case 'backlog_alarm':
      return {
        message: `${news.backlogEvents} events wait.`,
        details: { backlog_events: news.backlogEvents, oldest_unsent_at: news.oldestAtMs },
      }
    case 'gap':
      return {
        message: `events ${news.first} to ${news.last} were removed before it could get them.`,
        details: { first_sequence: news.first, last_sequence: news.last },
      }
    case 'damaged':
      return {
        message: `event ${news.sequence} of the audit log is damaged, and it goes on without it.`,
        details: { sequence: news.sequence },
      }
  }
}
