import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import { withValues, type Configuration } from '../../domain/audit/export/configuration.ts'
import type { ExportSink, ExportStore } from '../../domain/audit/export/export-sink.ts'
import type { EventMaker } from '../../domain/audit/event/event-maker.ts'
import type { AuditAppender, AuditReads } from '../../domain/audit/log.ts'
import type { DeliveryOutcome, Sink } from '../../domain/audit/export/sink.ts'
import type { Actor } from '../../domain/mutations/audit-log.ts'

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

const timeoutMs = 30_000
const noOutcome: DeliveryOutcome = { kind: 'retry', reason: 'The sink returned no outcome.' }

/**
 * Sends one test event to a sink. The event is written to the log first, so that no administrator can make the gateway call an address
 * without a trace. The senders then deliver it like any other event, with the same id.
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
    using _cancel = cancelling(clock.after(timeoutMs, () => deadline.abort(new Error('the test took too long'))))
    const outcomes = logged ? await opened.deliver([logged.document], deadline.signal).catch(timedOut) : []
    return { outcome: outcomes[0] ?? noOutcome, eventId }
  }
}

const cancelling = (cancel: () => void): Disposable => ({ [Symbol.dispose]: cancel })

/** The same reason as for an unreachable destination, because a difference would reveal details of the gateway's network. */
const timedOut = (): readonly DeliveryOutcome[] => [{ kind: 'retry', reason: 'The destination could not be reached.' }]
