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

/** What the log must be told of a delivery. */
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
  readonly news: readonly SinkEvent[]
}

/** A paused sink is tried now and then all the same: it may be the destination that was mended. */
const pausedMs = hourMs
/** Nobody waits for longer: a destination may ask for an hour, and a little is added. */
export const longestWaitMs = 2 * pausedMs
const maxErrorLength = 500

/**
 * Where the cursor stands after a batch was offered. It moves over what is done with, up to the first event that must
 * be tried again, and never over that one: whatever happens, an event is delivered, rejected, or still ahead.
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
  const [refused] = rejected
  if (refused && cursor.lastSuccessAtMs === null && rejected.length === offered.length) {
    return afterRefusals(cursor, refused.reason, { nowMs, random })
  }
  const told = rejectedEvents(done)
  const base: Cursor = {
    ...cursor,
    sequence: last,
    planLast: null,
    lastSuccessAtMs: isMoving ? nowMs : cursor.lastSuccessAtMs,
    ...(rejected.length > 0 && { lastErrorAtMs: nowMs, lastError: rejected.at(-1)?.reason ?? null }),
  }
  const stopped = offered[stop]
  if (!stopped) {
    // A batch that the filter left nothing of has told us nothing of the destination.
    const failingSinceMs = isMoving ? null : cursor.failingSinceMs
    const answered = offered.length === 0 ? {} : { ...freshStart, failingSinceMs }
    const news = isMoving ? recoveredEvents(cursor) : []
    return { cursor: { ...base, ...answered }, rejected, news: [...told, ...news] }
  }
  // The rest of the plan stands, so that what was already sent of it is sent the same way again.
  const held = { ...base, sequence: stopped.sequence - 1, planLast: last, attempt: isMoving ? 0 : cursor.attempt }
  const failed = afterFailure(held, stopped.outcome, { nowMs, random })
  return { cursor: failed, rejected, news: [...told, ...pauseEvent(cursor, failed)] }
}

/**
 * A destination that never took an event and refuses all there is so far is the wrong one, not the events. They stay in the
 * line; the next attempt gathers anew, so that one that was bad indeed is told apart from those behind it.
 */
function afterRefusals(cursor: Cursor, reason: string, moment: Moment): DeliveryResult {
  const outcome: Pause = {
    kind: 'pause',
    state: 'config_error',
    reason: `The destination refuses every event. ${reason}`,
  }
  const paused = afterFailure({ ...cursor, planLast: null }, outcome, moment)
  return { cursor: paused, rejected: [], news: pauseEvent(cursor, paused) }
}

/** Also where it is further off than anybody waits: the clock was set back since. */
export const isDue = ({ nextAttemptAtMs }: Cursor, nowMs: number): boolean =>
  nextAttemptAtMs <= nowMs || nextAttemptAtMs > nowMs + longestWaitMs

type Moment = { readonly nowMs: number; readonly random: Random }

/** The cursor after a call that must be repeated: it stands still, and waits. */
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

/** News of a dead letter that is rejected itself is not worth another event, or there would be no end of them. */
function rejectedEvents(done: readonly Offered[]): SinkEvent[] {
  const events = done.filter(({ code }) => code !== 'export.dead_lettered').flatMap(rejectionOf)
  return events.length === 0 ? [] : [{ kind: 'dead_lettered', events }]
}

/** Told where the trouble was told: a retry that succeeds is nothing to speak of. */
const recoveredEvents = ({ failingSinceMs }: Cursor): SinkEvent[] =>
  failingSinceMs === null ? [] : [{ kind: 'recovered', failingSinceMs }]

/** What is to be told when the last of a backlog is gone for which an alarm was given. */
export function afterDraining(cursor: Cursor): DeliveryResult | undefined {
  const { alarmedAtMs } = cursor
  if (alarmedAtMs === null) return undefined
  const news: SinkEvent = { kind: 'recovered', failingSinceMs: alarmedAtMs }
  return { cursor: { ...cursor, alarmedAtMs: null }, rejected: [], news: [news] }
}

export function pauseEvent(before: Cursor, { state, lastError }: Cursor): SinkEvent[] {
  if ((state !== 'auth_error' && state !== 'config_error') || state === before.state) return []
  return [{ kind: state, reason: lastError ?? '' }]
}

export type Watermarks = { readonly alarmAfterMs: number; readonly alarmAfterEvents: number }

export type SinkBacklog = { readonly events: number; readonly oldestAtMs: number }

/** Said once for each time of trouble: so many events wait, or one has waited so long. */
export function afterWatermark(
  cursor: Cursor,
  { events, oldestAtMs }: SinkBacklog,
  { alarmAfterMs, alarmAfterEvents, nowMs }: Watermarks & { readonly nowMs: number },
): DeliveryResult | undefined {
  const isHigh = events >= alarmAfterEvents || (events > 0 && nowMs - oldestAtMs >= alarmAfterMs)
  if (!isHigh || cursor.alarmedAtMs !== null) return undefined
  const news: SinkEvent = { kind: 'backlog_alarm', backlogEvents: events, oldestAtMs }
  return { cursor: { ...cursor, alarmedAtMs: nowMs }, rejected: [], news: [news] }
}

/** Retention took what the sink never got: it goes on behind that, and the log says what it missed. */
export function afterGap(cursor: Cursor, firstSequence: number): DeliveryResult | undefined {
  if (cursor.sequence >= firstSequence - 1) return undefined
  const news: SinkEvent = { kind: 'gap', first: cursor.sequence + 1, last: firstSequence - 1 }
  return { cursor: { ...cursor, sequence: firstSequence - 1, planLast: null }, rejected: [], news: [news] }
}

/** One event that nobody can read any more holds up no other, or breaking it would silence all that follow. */
export const afterDamage = (cursor: Cursor, sequence: number): DeliveryResult => ({
  cursor: { ...cursor, sequence, planLast: null },
  rejected: [],
  news: [{ kind: 'damaged', sequence }],
})
