import type { DeliveryOutcome, Pause, Retry } from '../../domain/audit/export/sink.ts'
import { Unreachable } from '../network/request.ts'

/** An event in the destination's own format. */
export type EncodedEvent = { readonly text: string; readonly bytes: number; readonly timeMs: number }

export const toEncodedEvent = (shape: unknown, timeMs: number): EncodedEvent => {
  const text = JSON.stringify(shape)
  return { text, bytes: Buffer.byteLength(text), timeMs }
}

/** Limits of the destination for one request. */
export type BatchLimits = { readonly events: number; readonly bytes: number; readonly spanMs?: number }

/** The result of one request: one outcome for all of its events, or one of the cases below. */
export type BatchResult =
  | DeliveryOutcome
  /** The request is too large, or one unknown event is bad: send the halves. */
  | { readonly kind: 'split'; readonly reason: string }
  /** The event at `index` is bad: send the others again without it. */
  | { readonly kind: 'reject_one'; readonly index: number; readonly reason: string }
  | { readonly kind: 'each'; readonly outcomes: readonly DeliveryOutcome[] }
  /** Accepted; the destination confirms it later under this ticket. */
  | { readonly kind: 'accepted'; readonly ticket: number }

type Send<P> = (events: readonly P[]) => Promise<BatchResult>

/** For destinations that confirm later: `confirm` waits for all accepted requests together. */
export type ConfirmedTransport<P> = {
  readonly send: Send<P>
  readonly confirm: (tickets: readonly number[]) => Promise<ReadonlyMap<number, DeliveryOutcome>>
}

type FinalResult = Exclude<BatchResult, { kind: 'accepted' }>

type Range = { readonly start: number; readonly end: number }

// If a destination rejects more than this many events and accepts none, its configuration is wrong, and no event is dropped.
const maxRejectedWithoutSuccess = 20

const notTried: Retry = { kind: 'retry', reason: 'Not tried yet.' }

/**
 * Sends events in order, in as few requests as the limits allow, and isolates an event that the destination rejects. Stops at
 * the first request that must be retried later. The next request does not wait for the confirmation of the one before,
 * because requests arrive in order anyway.
 */
export async function deliverEncoded<P extends EncodedEvent>(
  events: readonly P[],
  limits: BatchLimits,
  transport: Send<P> | ConfirmedTransport<P>,
): Promise<readonly DeliveryOutcome[]> {
  const { send, confirm } = typeof transport === 'function' ? { send: transport, confirm: undefined } : transport
  const outcomes = new Map<number, DeliveryOutcome>()
  const accepted: (Range & { readonly ticket: number })[] = []
  const queue = rangesOf(events, limits)
  let unsent: DeliveryOutcome = notTried
  for (let range = queue.shift(); range; range = queue.shift()) {
    const result = await attempt(send, events.slice(range.start, range.end))
    if (result.kind === 'accepted') {
      accepted.push({ ...range, ticket: result.ticket })
      continue
    }
    queue.unshift(...settle(range, result, outcomes))
    const stop = stopIn(result) ?? (accepted.length === 0 ? pauseIfAllRejected(outcomes) : undefined)
    if (!stop) continue
    unsent = stop
    break
  }
  if (accepted.length > 0) {
    const confirmed = await confirm?.(accepted.map(({ ticket }) => ticket))
    for (const { ticket, ...range } of accepted) settle(range, confirmed?.get(ticket) ?? notTried, outcomes)
  }
  return events.map((_, at) => outcomes.get(at) ?? unsent)
}

async function attempt<P>(send: Send<P>, events: readonly P[]): Promise<BatchResult> {
  try {
    return await send(events)
  } catch (error) {
    if (error instanceof Unreachable) return { kind: 'retry', reason: error.message, cause: error.cause }
    throw error
  }
}

/** Stores the outcomes of a range, and returns the parts of it that must be sent again. */
function settle({ start, end }: Range, result: FinalResult, outcomes: Map<number, DeliveryOutcome>): readonly Range[] {
  if (result.kind === 'split' && end - start > 1) {
    const middle = start + Math.ceil((end - start) / 2)
    return [
      { start, end: middle },
      { start: middle, end },
    ]
  }
  if (result.kind === 'reject_one') {
    const bad = start + result.index
    outcomes.set(bad, { kind: 'reject', reason: result.reason })
    const others = [
      { start, end: bad },
      { start: bad + 1, end },
    ]
    return others.filter((range) => range.start < range.end)
  }
  for (let at = start; at < end; at++) outcomes.set(at, outcomeAt(result, at - start))
  return []
}

function outcomeAt(result: Exclude<FinalResult, { kind: 'reject_one' }>, index: number): DeliveryOutcome {
  if (result.kind === 'each') return result.outcomes[index] ?? notTried
  return result.kind === 'split' ? { kind: 'reject', reason: result.reason } : result
}

function stopIn(result: FinalResult): DeliveryOutcome | undefined {
  const outcomes = result.kind === 'each' ? result.outcomes : [result]
  return outcomes.find((outcome) => outcome.kind === 'retry' || outcome.kind === 'pause')
}

/** Discards the rejections and pauses if the destination rejected every event so far, because then its configuration is wrong. */
function pauseIfAllRejected(outcomes: Map<number, DeliveryOutcome>): Pause | undefined {
  const all = [...outcomes.values()]
  const [first] = all
  if (all.length <= maxRejectedWithoutSuccess || first?.kind !== 'reject') return undefined
  if (all.some(({ kind }) => kind !== 'reject')) return undefined
  outcomes.clear()
  return { kind: 'pause', state: 'config_error', reason: `The destination rejects every event. ${first.reason}` }
}

/** Splits the batch, in order, where the next event would exceed a limit. */
function rangesOf(events: readonly EncodedEvent[], limits: BatchLimits): Range[] {
  const { bytes, spanMs = Infinity } = limits
  const ranges: Range[] = []
  let start = 0
  let size = 0
  let [earliestMs, latestMs] = [Infinity, -Infinity]
  for (const [at, event] of events.entries()) {
    const span = Math.max(latestMs, event.timeMs) - Math.min(earliestMs, event.timeMs)
    if (at > start && (at - start >= limits.events || size + event.bytes > bytes || span >= spanMs)) {
      ranges.push({ start, end: at })
      start = at
      size = 0
      ;[earliestMs, latestMs] = [Infinity, -Infinity]
    }
    size += event.bytes + 1 // plus the separator
    earliestMs = Math.min(earliestMs, event.timeMs)
    latestMs = Math.max(latestMs, event.timeMs)
  }
  if (events.length > 0) ranges.push({ start, end: events.length })
  return ranges
}
