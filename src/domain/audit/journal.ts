import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { createGroupCommit } from '../../base/group-commit.ts'
import { plural } from '../../base/plural.ts'
import type { AuditBacklog } from './backlog.ts'
import type { AuditEvent } from './event/event.ts'
import type { EventMaker } from './event/event-maker.ts'
import type { EventFacts } from './event/facts.ts'
import type { AuditAppender } from './log.ts'

/** Writes the audit events of inference requests. */
export type Journal = {
  /**
   * Whether the organization's answers are withheld if their events cannot be written. If so and the last write failed, it
   * tests the log again and rejects if that fails: such a request must not reach its upstream.
   */
  isRequired(organizationId: string): MaybePromise<boolean>
  /**
   * Resolves once the event is durable; the answer must not be completed before. `make` is called when the event's group is
   * written. If the log cannot be written, it rejects if the event is required. Otherwise the event waits on this node's
   * disk; if the disk cannot be written either, the event is counted as lost and the promise resolves with false.
   */
  record(organizationId: string, make: () => EventFacts, options?: RecordOptions): Promise<boolean>
}

export type RecordOptions = {
  readonly id?: string | undefined
  /** The result of `isRequired`. Left out if the request failed before it was known; it is then read when the write fails. */
  readonly isRequired?: boolean | undefined
}

export type JournalParts = {
  readonly appender: AuditAppender
  readonly events: EventMaker
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Whether the organization's answers are withheld if their events cannot be written. */
  readonly isAuditRequired: (organizationId: string) => MaybePromise<boolean>
  /** Holds events that could not be written; null if this node has no spool. */
  readonly backlog: Pick<AuditBacklog, 'keep'> | null
  /** The current outage of storage, if another component has detected one. */
  readonly outage?: () => Fault | undefined
  /** Called with the number of events that could not be written, and the reason. */
  readonly onLost: (count: number, cause: unknown) => void
}

type Waiting = RecordOptions & {
  /** Undefined for a test whether the log can be written. */
  readonly make: (() => EventFacts) | undefined
  resolve(isStored: boolean): void
  reject(error: unknown): void
}

type Cooldown = { readonly untilMs: number; readonly cause: Fault }

type Built = { readonly waiting: Waiting; readonly event: AuditEvent | undefined }

/** After a failed write, skip storage for this long before trying again. */
const cooldownMs = 1_000

/** Bounds the size of one append. */
const maxGroupSize = 500

/** Events of an organization that arrive together are written with one append, which extends its hash chain once. */
export function createJournal(parts: JournalParts): Journal {
  const { appender, events, clock, isAuditRequired, backlog, onLost } = parts
  const add = createGroupCommit<string, Waiting>({ mostAtOnce: maxGroupSize, write })
  const lost = new Map<string, number>()
  /** Organizations whose last write failed. */
  const failing = new Set<string>()
  const cooldowns = createCooldowns(clock)

  async function write(organizationId: string, all: readonly Waiting[]): Promise<void> {
    const group: Built[] = []
    for (const waiting of all) build(organizationId, waiting, group)
    if (group.length === 0) return
    const known = cooldowns.causeFor(organizationId) ?? parts.outage?.()
    try {
      if (known !== undefined) throw known
      const made = eventsOf(group)
      const before = lost.get(organizationId) ?? 0
      await appendWithRetry(organizationId, before === 0 ? made : [lossEvent(organizationId, before), ...made])
      if (before > 0) lost.set(organizationId, (lost.get(organizationId) ?? 0) - before)
      failing.delete(organizationId)
      cooldowns.end(organizationId)
      for (const { waiting } of group) waiting.resolve(true)
    } catch (cause) {
      failing.add(organizationId)
      if (isFault(cause) && cause !== known) cooldowns.start(organizationId, cause)
      await onWriteFailed(organizationId, group, cause)
    }
  }

  async function onWriteFailed(organizationId: string, group: readonly Built[], cause: unknown): Promise<void> {
    const isUndecided = group.some(({ waiting }) => waiting.isRequired === undefined)
    const isRequiredByDefault = isUndecided ? await isRequiredNow(organizationId) : false
    const isRequired = ({ waiting }: Built): boolean | undefined => waiting.isRequired ?? isRequiredByDefault
    const others = group.filter((one) => isRequired(one) !== true)
    const areSpooled = others.length > 0 && (await spool(eventsOf(others)))
    const isRejected = (one: Built): boolean => isRequired(one) ?? !areSpooled
    countLost(organizationId, eventsOf(areSpooled ? group.filter(isRejected) : group).length, cause)
    for (const one of group) {
      if (isRejected(one)) one.waiting.reject(unwritten(cause))
      else one.waiting.resolve(areSpooled)
    }
  }

  /**
   * Undefined if the organization's setting cannot be read. Such a request has failed already, so its event may wait on the disk.
   * Without a spool it fails closed: the event counts as required.
   */
  async function isRequiredNow(organizationId: string): Promise<boolean | undefined> {
    try {
      return await isAuditRequired(organizationId)
    } catch {
      return undefined
    }
  }

  function countLost(organizationId: string, count: number, cause: unknown): void {
    if (count === 0) return
    lost.set(organizationId, (lost.get(organizationId) ?? 0) + count)
    onLost(count, cause)
  }

  async function spool(made: readonly AuditEvent[]): Promise<boolean> {
    if (!backlog) return false
    return backlog.keep(made).then(
      () => true,
      () => false,
    )
  }

  /** An event that cannot be built fails alone; the other events of the group are still written. */
  function build(organizationId: string, waiting: Waiting, group: Built[]): void {
    const { make, id, isRequired, resolve, reject } = waiting
    try {
      group.push({ waiting, event: make && events.makeEvent(make(), id) })
    } catch (error) {
      countLost(organizationId, 1, error)
      if (isRequired === false) resolve(false)
      else reject(error)
    }
  }

  /** Retries once: if the connection broke, it is unknown whether the commit happened, so the retry skips existing events. */
  async function appendWithRetry(organizationId: string, made: readonly AuditEvent[]): Promise<void> {
    try {
      await appender.append(organizationId, made)
    } catch (error) {
      if (isLocked(error)) throw error // the server has rolled it back, and a retry would wait as long
      await appender.append(organizationId, made, true)
    }
  }

  const lossEvent = (organizationId: string, count: number): AuditEvent =>
    events.makeEvent({
      code: 'audit.events_lost',
      organizationId,
      timeMs: clock.nowMs(),
      message: `${plural(count, 'event')} could not be written to the audit log.`,
      details: { count },
    })

  function enqueue(organizationId: string, make: Waiting['make'], options: RecordOptions): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    add(organizationId, { ...options, make, resolve, reject })
    return promise
  }

  /** Tests storage only if there is a sign that it may be unavailable. */
  const isWritable = (organizationId: string): MaybePromise<boolean> =>
    !cooldowns.hasOne() && !failing.has(organizationId) && parts.outage?.() === undefined
      ? true
      : enqueue(organizationId, undefined, { isRequired: true })

  return {
    isRequired: (organizationId) =>
      andThen(isAuditRequired(organizationId), (isRequired) => isRequired && isWritable(organizationId)),
    record: (organizationId, make, options = {}) => enqueue(organizationId, make, options),
  }
}

/** Remembers failed writes, so that storage is not tried for every request. */
function createCooldowns({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  let general: Cooldown | undefined
  /** Organizations whose rows another transaction has locked, which does not concern the others. */
  const locked = new Map<string, Cooldown>()
  return {
    start(organizationId: string, cause: Fault): void {
      const started = { untilMs: monotonicMs() + cooldownMs, cause }
      if (isLocked(cause)) locked.set(organizationId, started)
      else general = started
    },
    end(organizationId: string): void {
      locked.delete(organizationId)
      general = undefined
    },
    causeFor: (organizationId: string): Fault | undefined =>
      [general, locked.get(organizationId)].find((one) => one && monotonicMs() < one.untilMs)?.cause,
    /** Whether a write failed, and none succeeded since. */
    hasOne: (): boolean => general !== undefined,
  }
}

const isLocked = (error: unknown): boolean => isFault(error) && error.code === 'storage_locked'

function eventsOf(group: readonly Built[]): readonly AuditEvent[] {
  const made: AuditEvent[] = []
  for (const { event } of group) if (event !== undefined) made.push(event)
  return made
}

const unwritten = (cause: unknown): Fault =>
  new Fault('unavailable', 'audit_unavailable', 'The audit log cannot be written, so the answer cannot be given.', {
    retryAfterSeconds: 5,
    cause,
  })
