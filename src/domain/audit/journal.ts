import type { Clock } from '../../base/clock.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { createGroupCommit } from '../../base/group-commit.ts'
import type { AuditBacklog } from './backlog.ts'
import type { AuditEvent } from './event/event.ts'
import type { EventMaker } from './event/event-maker.ts'
import type { EventFacts } from './facts/facts.ts'
import type { AuditAppender } from './log.ts'

/** Where what happens on the road of a request is written down. */
export type Journal = {
  /**
   * Resolves once the event is durable: until then the answer that it tells of is not complete. `make` is called when
   * its group is written. Where the log cannot be written it rejects if this organization's answers need their events
   * there; else the event waits on this node's disk, and one that cannot is counted as lost.
   */
  record(organizationId: string, make: () => EventFacts, id?: string): Promise<void>
}

export type JournalParts = {
  readonly appender: AuditAppender
  readonly events: EventMaker
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Whether an answer of this organization is refused when its event cannot be written to the log. */
  readonly isAuditRequired: (organizationId: string) => boolean | Promise<boolean>
  /** Where events wait that the log did not take; null where there is no such place. */
  readonly backlog: Pick<AuditBacklog, 'keep'> | null
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
const mostAtOnce = 500

/** One append for all events of an organization that arrive together: its hash chain is extended for them at once. */
export function createJournal(parts: JournalParts): Journal {
  const { appender, events, clock, isAuditRequired, backlog, onLost } = parts
  const add = createGroupCommit<string, Waiting>({ mostAtOnce, write })
  const lost = new Map<string, number>()
  let rest: { readonly untilMs: number; readonly cause: unknown } | undefined

  async function write(organizationId: string, all: readonly Waiting[]): Promise<void> {
    const made: AuditEvent[] = []
    const group = all.filter((waiting) => build(waiting, made))
    if (group.length === 0) return
    try {
      if (rest && clock.monotonicMs() < rest.untilMs) throw rest.cause
      const before = lost.get(organizationId) ?? 0
      await appendSurely(organizationId, before === 0 ? made : [lossEvent(organizationId, before), ...made])
      if (before > 0) lost.set(organizationId, (lost.get(organizationId) ?? 0) - before)
      for (const { resolve } of group) resolve()
    } catch (cause) {
      if (isFault(cause) && cause !== rest?.cause) rest = { untilMs: clock.monotonicMs() + restMs, cause }
      const isRequired = await isAuditRequired(organizationId)
      if (isRequired || !(await isKept(made))) {
        lost.set(organizationId, (lost.get(organizationId) ?? 0) + group.length)
        onLost(group.length, cause)
      }
      for (const { resolve, reject } of group) {
        if (isRequired) reject(unwritten(cause))
        else resolve()
      }
    }
  }

  async function isKept(made: readonly AuditEvent[]): Promise<boolean> {
    if (!backlog) return false
    return backlog.keep(made).then(
      () => true,
      () => false,
    )
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
      timeMs: clock.nowMs(),
      message: `${count} events could not be written to the audit log.`,
      details: { count },
    })

  return {
    record(organizationId, make, id) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      add(organizationId, { make, id, resolve, reject })
      return promise
    },
  }
}

const unwritten = (cause: unknown): Fault =>
  new Fault('unavailable', 'audit_unavailable', 'The audit log cannot be written, so the answer cannot be given.', {
    retryAfterSeconds: 5,
    cause,
  })
