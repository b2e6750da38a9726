import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import { withValues, type Configuration } from '../../domain/audit/export/configuration.ts'
import type { ExportSink, ExportStore } from '../../domain/audit/export/export-sink.ts'
import type { EventMaker } from '../../domain/audit/event/event-maker.ts'
import type { AuditAppender, AuditReads } from '../../domain/audit/log.ts'
import { sendsOf, type DeliveryOutcome, type Sink, type SinkFile } from '../../domain/audit/export/sink.ts'
import type { Actor } from '../../domain/mutations/audit-log.ts'

export type SinkTestParts = {
  readonly clock: Clock
  readonly ids: Ids
  readonly events: EventMaker
  readonly appender: AuditAppender
  readonly log: Pick<AuditReads, 'find'>
  readonly sinks: Pick<ExportStore, 'secretsOf'>
  readonly open: (type: string, config: Configuration) => Sink & AsyncDisposable
  /** A file as a sink of costs gets it, under a name of its own. */
  readonly testFile: (about: { organizationId: string; id: string; nowMs: number }) => Promise<SinkFile>
}

export type SinkTest = (sink: ExportSink, actor: Actor) => Promise<{ outcome: DeliveryOutcome; eventId: string }>

type Opened = { readonly opened: Sink; readonly signal: AbortSignal }

const timeoutMs = 30_000
const noOutcome: DeliveryOutcome = { kind: 'retry', reason: 'The sink returned no outcome.' }

/**
 * Sends one test event to a sink, or a test file to a sink of costs. The event is written to the log first, so that no administrator can make the gateway call an address
 * without a trace. The senders then deliver it like any other event, with the same id, to the sinks of events.
 */
export function createSinkTest({ clock, ids, events, appender, log, sinks, open, testFile }: SinkTestParts): SinkTest {
  const send = async (sink: ExportSink, eventId: string, { opened, signal }: Opened): Promise<DeliveryOutcome> => {
    const { organizationId } = sink
    if (sendsOf(sink.config) === 'costs') {
      const file = await testFile({ organizationId, id: eventId, nowMs: clock.nowMs() })
      return (await opened.writeFile?.(file, signal).catch(timedOut)) ?? noOutcome
    }
    const logged = await log.find(organizationId, eventId)
    if (!logged) return noOutcome
    const [outcome = noOutcome] = await opened.deliver([logged.document], signal).catch(() => [timedOut()])
    return outcome
  }

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
    await using opened = open(sink.type, withValues(sink.config, await sinks.secretsOf(sink)))
    const deadline = new AbortController()
    using _cancel = cancelling(clock.after(timeoutMs, () => deadline.abort(new Error('the test took too long'))))
    const outcome = await send(sink, eventId, { opened, signal: deadline.signal })
    return { outcome, eventId }
  }
}

const cancelling = (cancel: () => void): Disposable => ({ [Symbol.dispose]: cancel })

/** The same reason as for an unreachable destination, because a difference would reveal details of the gateway's network. */
const timedOut = (): DeliveryOutcome => ({ kind: 'retry', reason: 'The destination could not be reached.' })
