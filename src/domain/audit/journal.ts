import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { createGroupCommit } from '../../base/group-commit.ts'
import type { AuditBacklog } from './backlog.ts'
import type { AuditEvent } from './event/event.ts'
import type { EventMaker } from './event/event-maker.ts'
import type { EventFacts } from './event/facts.ts'
import type { AuditAppender } from './log.ts'

/** Where what happens on the road of a request is written down. */
export type Journal = {
  /**
   * Whether an answer of this organization is refused when its event cannot be written. Rejects where that is so and
   * the last write failed, unless the log can be written again by now: such a request must not reach its upstream.
   */
  isRequired(organizationId: string): MaybePromise<boolean>
  /**
   * Resolves once the event is durable: until then the answer that it tells of is not complete. `make` is called when
   * its group is written. Where the log cannot be written it rejects if the event is required; else the event waits on
   * this node's disk, and one that cannot is counted as lost: then it resolves with false.
   */
  record(organizationId: string, make: () => EventFacts, options?: RecordOptions): Promise<boolean>
}

export type RecordOptions = {
  readonly id?: string | undefined
  /** What `isRequired` has said; asked for again where a request did not get that far. */
  readonly isRequired?: boolean | undefined
}

export type JournalParts = {
  readonly appender: AuditAppender
  readonly events: EventMaker
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Whether an answer of this organization is refused when its event cannot be written to the log. */
  readonly isAuditRequired: (organizationId: string) => MaybePromise<boolean>
  /** Where events wait that the log did not take; null where there is no such place. */
  readonly backlog: Pick<AuditBacklog, 'keep'> | null
  /** Why a write to the log would fail now, as far as others have found out. */
  readonly outage?: () => Fault | undefined
  /** Told how many events could not be written, and why. */
  readonly onLost: (count: number, cause: unknown) => void
}

type Waiting = RecordOptions & {
  /** Undefined for one who only asks whether the log can be written. */
  readonly make: (() => EventFacts) | undefined
  resolve(isKept: boolean): void
  reject(error: unknown): void
}

type Built = { readonly waiting: Waiting; readonly event: AuditEvent | undefined }

/** After storage could not be reached, nobody waits for it again before this long. */
const cooldownMs = 1_000

/** Bounds what one append must carry. */
const mostAtOnce = 500

/** One append for all events of an organization that arrive together: its hash chain is extended for them at once. */
export function createJournal(parts: JournalParts): Journal {
  const { appender, events, clock, isAuditRequired, backlog, onLost } = parts
  const add = createGroupCommit<string, Waiting>({ mostAtOnce, write })
  const lost = new Map<string, number>()
  /** Organizations whose last write failed. */
  const failing = new Set<string>()
  let rest: { readonly untilMs: number; readonly cause: Fault } | undefined

  async function write(organizationId: string, all: readonly Waiting[]): Promise<void> {
    const group: Built[] = []
    for (const waiting of all) build(organizationId, waiting, group)
    if (group.length === 0) return
    const known = knownOutage()
    try {
      if (known !== undefined) throw known
      const made = eventsOf(group)
      const before = lost.get(organizationId) ?? 0
      await appendSurely(organizationId, before === 0 ? made : [lossEvent(organizationId, before), ...made])
      if (before > 0) lost.set(organizationId, (lost.get(organizationId) ?? 0) - before)
      failing.delete(organizationId)
      rest = undefined
      for (const { waiting } of group) waiting.resolve(true)
    } catch (cause) {
      failing.add(organizationId)
      if (isFault(cause) && cause !== known) rest = { untilMs: clock.monotonicMs() + cooldownMs, cause }
      await giveUp(organizationId, group, cause)
    }
  }

  const knownOutage = (): Fault | undefined =>
    rest && clock.monotonicMs() < rest.untilMs ? rest.cause : parts.outage?.()

  async function giveUp(organizationId: string, group: readonly Built[], cause: unknown): Promise<void> {
    const isUndecided = group.some(({ waiting }) => waiting.isRequired === undefined)
    const wish = isUndecided && (await isRequiredNow(organizationId))
    const isRequired = ({ waiting }: Built): boolean => waiting.isRequired ?? wish
    const required = group.filter(isRequired)
    const others = group.filter((one) => !isRequired(one))
    const areKept = others.length > 0 && (await isKept(eventsOf(others)))
    countLost(organizationId, eventsOf(areKept ? required : group).length, cause)
    for (const { waiting } of others) waiting.resolve(areKept)
    for (const { waiting } of required) waiting.reject(unwritten(cause))
  }

  /** An organization whose configuration cannot be read may be one that requires audit. */
  async function isRequiredNow(organizationId: string): Promise<boolean> {
    try {
      return await isAuditRequired(organizationId)
    } catch {
      return true
    }
  }

  function countLost(organizationId: string, count: number, cause: unknown): void {
    if (count === 0) return
    lost.set(organizationId, (lost.get(organizationId) ?? 0) + count)
    onLost(count, cause)
  }

  async function isKept(made: readonly AuditEvent[]): Promise<boolean> {
    if (!backlog) return false
    return backlog.keep(made).then(
      () => true,
      () => false,
    )
  }

  /** One that cannot be built fails alone: its neighbours are not lost for it. */
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

  function enqueue(organizationId: string, make: Waiting['make'], options: RecordOptions): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    add(organizationId, { ...options, make, resolve, reject })
    return promise
  }

  /** Storage is tried only where nobody knows that it is away. */
  const isWritable = (organizationId: string): MaybePromise<boolean> =>
    rest === undefined && !failing.has(organizationId) && parts.outage?.() === undefined
      ? true
      : enqueue(organizationId, undefined, { isRequired: true })

  return {
    isRequired: (organizationId) =>
      andThen(isAuditRequired(organizationId), (isRequired) => isRequired && isWritable(organizationId)),
    record: (organizationId, make, options = {}) => enqueue(organizationId, make, options),
  }
}

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
