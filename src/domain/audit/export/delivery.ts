import { hourMs } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import { backoffMs } from './backoff.ts'
import type { DeliveryOutcome, Pause, Retry } from './sink.ts'
import { freshStart, type Cursor } from './cursor.ts'

/** An event that was offered to a destination, and what became of it. */
export type Offered = {
  readonly sequence: number
  readonly id: string
  readonly code: string
  readonly outcome: DeliveryOutcome
}

export type RejectedEvent = { readonly sequence: number; readonly id: string; readonly reason: string }

/** A change of a sink's state that is written to the audit log. */
export type SinkEvent =
  | { readonly kind: 'dead_lettered'; readonly events: readonly RejectedEvent[] }
  | { readonly kind: 'auth_error' | 'config_error'; readonly reason: string }
  | { readonly kind: 'recovered'; readonly failingSinceMs: number }
  | { readonly kind: 'backlog_alarm'; readonly backlogEvents: number; readonly oldestAtMs: number }
  | { readonly kind: 'gap'; readonly first: number; readonly last: number }
  | { readonly kind: 'damaged'; readonly sequence: number }

export type DeliveryResult = {
  readonly cursor: Cursor
  readonly rejected: readonly RejectedEvent[]
  readonly sinkEvents: readonly SinkEvent[]
}

/** A paused sink is retried once an hour, because the fault may have been fixed at the destination. */
const pausedMs = hourMs
/** No wait is longer: a destination may request an hour, and jitter is added. */
export const longestWaitMs = 2 * pausedMs
const maxErrorLength = 500

/**
 * The cursor after a batch was offered. It moves up to the first event that must be retried, and never past it. So each
 * event is delivered, rejected, or still ahead of the cursor.
 */
export function applyOutcome(
  cursor: Cursor,
  { offered, last }: { offered: readonly Offered[]; last: number },
  { nowMs, random }: { nowMs: number; random: Random },
): DeliveryResult {
  const stop = offered.findIndex(({ outcome }) => outcome.kind === 'retry' || outcome.kind === 'pause')
  const done = stop === -1 ? offered : offered.slice(0, stop)
  const rejected = done.flatMap(rejectionOf)
  const isMoving = done.some(({ outcome }) => outcome.kind === 'delivered')
  const [firstRejected] = rejected
  if (firstRejected && cursor.lastSuccessAtMs === null && rejected.length === offered.length) {
    return afterAllRejected(cursor, firstRejected.reason, { nowMs, random })
  }
  const rejections = rejectedEvents(done)
  const base: Cursor = {
    ...cursor,
    sequence: last,
    planLast: null,
    lastSuccessAtMs: isMoving ? nowMs : cursor.lastSuccessAtMs,
    ...(rejected.length > 0 && { lastErrorAtMs: nowMs, lastError: rejected.at(-1)?.reason ?? null }),
  }
  const stopped = offered[stop]
  if (!stopped) {
    // If the filter left no event of the batch, the destination was not called and its state is unknown.
    const failingSinceMs = isMoving ? null : cursor.failingSinceMs
    const answered = offered.length === 0 ? {} : { ...freshStart, failingSinceMs }
    const recovery = isMoving ? recoveredEvents(cursor) : []
    return { cursor: { ...base, ...answered }, rejected, sinkEvents: [...rejections, ...recovery] }
  }
  // The planned end of the batch stays, so that events which were already sent are sent again in the same batch.
  const held = { ...base, sequence: stopped.sequence - 1, planLast: last, attempt: isMoving ? 0 : cursor.attempt }
  const failed = afterFailure(held, stopped.outcome, { nowMs, random })
  return { cursor: failed, rejected, sinkEvents: [...rejections, ...pauseEvent(cursor, failed)] }
}

/**
 * If a destination has never accepted an event and rejects all of the first batch, its configuration is wrong, not the events.
 * They stay in the queue. The next attempt plans a new batch, so that an event which really is bad is found among later ones.
 */
function afterAllRejected(cursor: Cursor, reason: string, moment: Moment): DeliveryResult {
  const outcome: Pause = {
    kind: 'pause',
    state: 'config_error',
    reason: `The destination rejects every event. ${reason}`,
  }
  const paused = afterFailure({ ...cursor, planLast: null }, outcome, moment)
  return { cursor: paused, rejected: [], sinkEvents: pauseEvent(cursor, paused) }
}

/** Also true if the next attempt is further away than the longest wait, because then the clock was set back. */
export const isDue = ({ nextAttemptAtMs }: Cursor, nowMs: number): boolean =>
  nextAttemptAtMs <= nowMs || nextAttemptAtMs > nowMs + longestWaitMs

type Moment = { readonly nowMs: number; readonly random: Random }

/** The cursor after a call that must be retried: it does not move, and waits for the next attempt. */
export function afterFailure(cursor: Cursor, outcome: DeliveryOutcome, { nowMs, random }: Moment): Cursor {
  if (outcome.kind !== 'retry' && outcome.kind !== 'pause') return cursor
  const attempt = cursor.attempt + 1
  return {
    ...cursor,
    attempt,
    state: stateAfter(outcome),
    nextAttemptAtMs:
      nowMs + (outcome.kind === 'pause' ? pausedMs : Math.max(1, backoffMs(attempt, random, outcome.retryAfterMs))),
    failingSinceMs: cursor.failingSinceMs ?? (outcome.kind === 'pause' ? nowMs : null),
    lastErrorAtMs: nowMs,
    lastError: outcome.reason.slice(0, maxErrorLength),
  }
}

function stateAfter(outcome: Retry | Pause): Cursor['state'] {
  if (outcome.kind === 'pause') return outcome.state
  return outcome.retryAfterMs === undefined ? 'retrying' : 'throttled'
}

const rejectionOf = ({ sequence, id, outcome }: Offered): RejectedEvent[] =>
  outcome.kind === 'reject' ? [{ sequence, id, reason: outcome.reason.slice(0, maxErrorLength) }] : []

/** A rejected `export.dead_lettered` event causes no further event, because the destination would reject that one as well. */
function rejectedEvents(done: readonly Offered[]): SinkEvent[] {
  const events = done.filter(({ code }) => code !== 'export.dead_lettered').flatMap(rejectionOf)
  return events.length === 0 ? [] : [{ kind: 'dead_lettered', events }]
}

/** Reported only if the pause was reported: a retry that succeeds is not worth an event. */
export const recoveredEvents = ({ failingSinceMs }: Cursor): SinkEvent[] =>
  failingSinceMs === null ? [] : [{ kind: 'recovered', failingSinceMs }]

/** The result to store when a backlog that raised an alarm has been delivered. */
export function afterDraining(cursor: Cursor): DeliveryResult | undefined {
  const { alarmedAtMs } = cursor
  if (alarmedAtMs === null) return undefined
  const recovered: SinkEvent = { kind: 'recovered', failingSinceMs: alarmedAtMs }
  return { cursor: { ...cursor, alarmedAtMs: null }, rejected: [], sinkEvents: [recovered] }
}

export function pauseEvent(before: Cursor, { state, lastError }: Cursor): SinkEvent[] {
  if ((state !== 'auth_error' && state !== 'config_error') || state === before.state) return []
  return [{ kind: state, reason: lastError ?? '' }]
}

export type Watermarks = { readonly alarmAfterMs: number; readonly alarmAfterEvents: number }

export type SinkBacklog = { readonly events: number; readonly oldestAtMs: number }

/** Raises the alarm once per incident, if too many events wait or the oldest has waited too long. */
export function afterWatermark(
  cursor: Cursor,
  { events, oldestAtMs }: SinkBacklog,
  { alarmAfterMs, alarmAfterEvents, nowMs }: Watermarks & { readonly nowMs: number },
): DeliveryResult | undefined {
  const isHigh = events >= alarmAfterEvents || (events > 0 && nowMs - oldestAtMs >= alarmAfterMs)
  if (!isHigh || cursor.alarmedAtMs !== null) return undefined
  const alarm: SinkEvent = { kind: 'backlog_alarm', backlogEvents: events, oldestAtMs }
  return { cursor: { ...cursor, alarmedAtMs: nowMs }, rejected: [], sinkEvents: [alarm] }
}

/** Retention removed events that the sink never got. It continues after them, and the log records which are missing. */
export function afterGap(cursor: Cursor, firstSequence: number): DeliveryResult | undefined {
  if (cursor.sequence >= firstSequence - 1) return undefined
  const gap: SinkEvent = { kind: 'gap', first: cursor.sequence + 1, last: firstSequence - 1 }
  return { cursor: { ...cursor, sequence: firstSequence - 1, planLast: null }, rejected: [], sinkEvents: [gap] }
}

/** Skips an unreadable event: otherwise damaging one row would stop the export of all later ones. */
export const afterDamage = (cursor: Cursor, sequence: number): DeliveryResult => ({
  cursor: { ...cursor, sequence, planLast: null },
  rejected: [],
  sinkEvents: [{ kind: 'damaged', sequence }],
})
