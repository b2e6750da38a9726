import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import { withValues, type Configuration } from '../../domain/audit/export/configuration.ts'
import type { ExportSink, ExportStore } from '../../domain/audit/export/export-sink.ts'
import type { EventMaker } from '../../domain/audit/event/event-maker.ts'
import type { AuditAppender, AuditReads } from '../../domain/audit/log.ts'
import type { DeliveryOutcome, Sink } from '../../domain/audit/export/sink.ts'
import type { Actor } from '../../domain/identity/audit-log.ts'

export type SinkTestParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly events: EventMaker
  readonly appender: AuditAppender
  readonly log: Pick<AuditReads, 'find'>
  readonly sinks: Pick<ExportStore, 'secretsOf'>
  readonly open: (type: string, config: Configuration) => Sink & AsyncDisposable
}

export type SinkTest = (sink: ExportSink, actor: Actor) => Promise<{ outcome: DeliveryOutcome; eventId: string }>

const longestMs = 30_000
const noAnswer: DeliveryOutcome = { kind: 'retry', reason: 'The sink gave no answer.' }

/**
 * Sends one marked event to a sink. The event is in the log before it is sent: nobody has us call an address without
 * a trace. It then also goes the way of all events, with the same id.
 */
export function createSinkTest({ clock, ids, events, appender, log, sinks, open }: SinkTestParts): SinkTest {
  return async (sink, actor) => {
    const { organizationId } = sink
    const eventId = ids('evt')
    const event = events.makeEvent(
      {
        code: 'export.test',
        organizationId,
        timeMs: clock.nowMs(),
        message: `A test of the export sink ${sink.id}.`,
        requestId: actor.requestId ?? undefined,
        actor: { credentialId: actor.credentialId ?? undefined },
        call: actor.call,
        resources: [{ type: 'export_sink', uid: sink.id }],
        details: { actor_type: actor.kind, resource_id: sink.id },
      },
      eventId,
    )
    await appender.append(organizationId, [event])
    const logged = await log.find(organizationId, eventId)
    await using opened = open(sink.type, withValues(sink.config, await sinks.secretsOf(sink)))
    const deadline = new AbortController()
    using _cancel = cancelling(clock.after(longestMs, () => deadline.abort(new Error('the test took too long'))))
    const outcomes = logged ? await opened.deliver([logged.document], deadline.signal).catch(tooLate) : []
    return { outcome: outcomes[0] ?? noAnswer, eventId }
  }
}

const cancelling = (cancel: () => void): Disposable => ({ [Symbol.dispose]: cancel })

/** The same words as for a destination that cannot be reached: the difference would tell of our network. */
const tooLate = (): readonly DeliveryOutcome[] => [{ kind: 'retry', reason: 'The destination could not be reached.' }]
