import { Fault, isFault } from '../../base/fault.ts'
import type { AuditEvent } from './event.ts'
import type { EventMaker } from './event-maker.ts'
import type { EventFacts } from './facts.ts'
import type { AuditAppender } from './log.ts'

/** Where what happens on the road of a request is written down. */
export type Journal = {
  /**
   * Resolves once the event is durable: until then the answer that it tells of is not complete. `make` is called when
   * its group is written, so that nothing is built for a log that is down. Rejects where the log cannot be written,
   * unless it was decided to go on without; then the event is counted as lost.
   */
  record(organizationId: string, make: () => EventFacts, id?: string): Promise<void>
}

export type JournalParts = {
  readonly appender: AuditAppender
  readonly events: EventMaker
  readonly nowMs: () => number
  /** What becomes of an answer of this organization whose event cannot be written. */
  readonly onFailure: (organizationId: string) => 'refuse' | 'continue'
  /** Told how many events could not be written, and why. */
  readonly onLost: (count: number, cause: unknown) => void
}

type Waiting = {
  readonly make: () => EventFacts
  readonly id: string | undefined
  resolve(): void
  reject(error: unknown): void
}

/** After storage could not be reached, nobody waits for it again before this long. */
const restMs = 1_000

/** Bounds what one append must carry. */
const maxGroupSize = 500

/**
 * Group commit: while one append of an organization is under way, events that arrive form the next one. The slower the
 * disk, the larger the groups, and one hash chain is extended for all of them at once.
 */
export function createJournal({ appender, events, nowMs, onFailure, onLost }: JournalParts): Journal {
  const queues = new Map<string, Waiting[]>()
  const lost = new Map<string, number>()
  let rest: { readonly untilMs: number; readonly cause: unknown } | undefined

  async function drain(organizationId: string, queue: Waiting[]): Promise<void> {
    await Promise.resolve() // so that all that is recorded in this turn is one group
    while (queue.length > 0) await write(organizationId, queue.splice(0, maxGroupSize))
    queues.delete(organizationId)
  }

  async function write(organizationId: string, all: readonly Waiting[]): Promise<void> {
    const made: AuditEvent[] = []
    const group = all.filter((waiting) => build(waiting, made))
    if (group.length === 0) return
    try {
      if (rest && nowMs() < rest.untilMs) throw rest.cause
      const before = lost.get(organizationId) ?? 0
      await appendSurely(organizationId, before === 0 ? made : [lossEvent(organizationId, before), ...made])
      if (before > 0) lost.set(organizationId, (lost.get(organizationId) ?? 0) - before)
      for (const { resolve } of group) resolve()
    } catch (cause) {
      if (isFault(cause) && cause !== rest?.cause) rest = { untilMs: nowMs() + restMs, cause }
      lost.set(organizationId, (lost.get(organizationId) ?? 0) + group.length)
      onLost(group.length, cause)
      const goesOn = onFailure(organizationId) === 'continue'
      for (const { resolve, reject } of group) {
        if (goesOn) resolve()
        else reject(unwritten(cause))
      }
    }
  }

  /** One that cannot be built fails alone: its neighbours are not lost for it. */
  function build({ make, id, reject }: Waiting, made: AuditEvent[]): boolean {
    try {
      made.push(events.makeEvent(make(), id))
      return true
    } catch (error) {
      reject(error)
      return false
    }
  }

  /** Once more after a failure: a connection may have broken, and nobody knows whether before or after the commit. */
  async function appendSurely(organizationId: string, made: readonly AuditEvent[]): Promise<void> {
    try {
      await appender.append(organizationId, made)
    } catch {
      await appender.append(organizationId, made, true)
    }
  }

  const lossEvent = (organizationId: string, count: number): AuditEvent =>
    events.makeEvent({
      code: 'audit.events_lost',
      organizationId,
      timeMs: nowMs(),
      message: `${count} events could not be written to the audit log.`,
      details: { count },
    })

  return {
    record(organizationId, make, id) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const waiting = { make, id, resolve, reject }
      const queue = queues.get(organizationId)
      if (queue) queue.push(waiting)
      else {
        const begun = [waiting]
        queues.set(organizationId, begun)
        void drain(organizationId, begun)
      }
      return promise
    },
  }
}

const unwritten = (cause: unknown): Fault =>
  new Fault('unavailable', 'audit_unavailable', 'The audit log cannot be written, so the answer cannot be given.', {
    retryAfterSeconds: 5,
    cause,
  })
