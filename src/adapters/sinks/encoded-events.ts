import type { DeliveryOutcome, Pause, Retry } from '../../domain/audit/export/sink.ts'
import { Unreachable } from '../network/request.ts'

/** An event in the destination's own spelling. */
export type EncodedEvent = { readonly text: string; readonly bytes: number; readonly timeMs: number }

export const toEncodedEvent = (shape: unknown, timeMs: number): EncodedEvent => {
  const text = JSON.stringify(shape)
  return { text, bytes: Buffer.byteLength(text), timeMs }
}

/** What the destination takes in one request. */
export type BatchLimits = { readonly events: number; readonly bytes: number; readonly spanMs?: number }

/** What one request came to: the same for all of its events, or more than can be said in one word. */
export type BatchResult =
  | DeliveryOutcome
  /** Too large, or one of them is bad and it is not said which: try the halves. */
  | { readonly kind: 'split'; readonly reason: string }
  /** This one is bad; the others are to be sent again without it. */
  | { readonly kind: 'reject_one'; readonly index: number; readonly reason: string }
  | { readonly kind: 'each'; readonly outcomes: readonly DeliveryOutcome[] }
  /** Taken, and to be confirmed later under this number. */
  | { readonly kind: 'accepted'; readonly ticket: number }

type Send<P> = (pieces: readonly P[]) => Promise<BatchResult>

/** For destinations that confirm later: all that was accepted is asked for together, so that the waits overlap. */
export type Confirmed<P> = {
  readonly send: Send<P>
  readonly confirm: (tickets: readonly number[]) => Promise<ReadonlyMap<number, DeliveryOutcome>>
}

type Known = Exclude<BatchResult, { kind: 'accepted' }>

type Run = { readonly start: number; readonly end: number }

// A destination that refuses this many and takes none is the wrong one; nothing of ours is dropped for its sake.
const hopelessAfter = 20

const notTried: Retry = { kind: 'retry', reason: 'Not tried yet.' }

/**
 * Sends pieces in order, in as few requests as the limits allow, narrowing down on an event that the destination
 * refuses. Stops at the first request that must be repeated later. The next request does not wait for the confirmation
 * of the one before: they arrive in order all the same.
 */
export async function deliverEncoded<P extends EncodedEvent>(
  pieces: readonly P[],
  limits: BatchLimits,
  road: Send<P> | Confirmed<P>,
): Promise<readonly DeliveryOutcome[]> {
  const { send, confirm } = typeof road === 'function' ? { send: road, confirm: undefined } : road
  const known = new Map<number, DeliveryOutcome>()
  const accepted: (Run & { readonly ticket: number })[] = []
  const queue = runsOf(pieces, limits)
  let rest: DeliveryOutcome = notTried
  for (let run = queue.shift(); run; run = queue.shift()) {
    const verdict = await attempt(send, pieces.slice(run.start, run.end))
    if (verdict.kind === 'accepted') {
      accepted.push({ ...run, ticket: verdict.ticket })
      continue
    }
    queue.unshift(...settle(run, verdict, known))
    const stop = stopIn(verdict) ?? (accepted.length === 0 ? hopelessness(known) : undefined)
    if (!stop) continue
    rest = stop
    break
  }
  if (accepted.length > 0) {
    const confirmed = await confirm?.(accepted.map(({ ticket }) => ticket))
    for (const { ticket, ...run } of accepted) settle(run, confirmed?.get(ticket) ?? notTried, known)
  }
  return pieces.map((_, at) => known.get(at) ?? rest)
}

async function attempt<P>(send: Send<P>, pieces: readonly P[]): Promise<BatchResult> {
  try {
    return await send(pieces)
  } catch (error) {
    if (error instanceof Unreachable) return { kind: 'retry', reason: error.message, cause: error.cause }
    throw error
  }
}

/** Writes down what is now known of a run, and answers the parts of it that must be asked again. */
function settle({ start, end }: Run, verdict: Known, known: Map<number, DeliveryOutcome>): readonly Run[] {
  if (verdict.kind === 'split' && end - start > 1) {
    const middle = start + Math.ceil((end - start) / 2)
    return [
      { start, end: middle },
      { start: middle, end },
    ]
  }
  if (verdict.kind === 'reject_one') {
    const bad = start + verdict.index
    known.set(bad, { kind: 'reject', reason: verdict.reason })
    const others = [
      { start, end: bad },
      { start: bad + 1, end },
    ]
    return others.filter((run) => run.start < run.end)
  }
  for (let at = start; at < end; at++) known.set(at, outcomeAt(verdict, at - start))
  return []
}

function outcomeAt(verdict: Exclude<Known, { kind: 'reject_one' }>, index: number): DeliveryOutcome {
  if (verdict.kind === 'each') return verdict.outcomes[index] ?? notTried
  return verdict.kind === 'split' ? { kind: 'reject', reason: verdict.reason } : verdict
}

function stopIn(verdict: Known): DeliveryOutcome | undefined {
  const outcomes = verdict.kind === 'each' ? verdict.outcomes : [verdict]
  return outcomes.find((outcome) => outcome.kind === 'retry' || outcome.kind === 'pause')
}

/** Takes the refusals back where there is nothing but refusals: it is the destination that is wrong. */
function hopelessness(known: Map<number, DeliveryOutcome>): Pause | undefined {
  const outcomes = [...known.values()]
  const [first] = outcomes
  if (outcomes.length <= hopelessAfter || first?.kind !== 'reject') return undefined
  if (outcomes.some(({ kind }) => kind !== 'reject')) return undefined
  known.clear()
  return { kind: 'pause', state: 'config_error', reason: `The destination rejects every event. ${first.reason}` }
}

/** Cuts the batch, in order, where the next piece would break a limit. */
function runsOf(pieces: readonly EncodedEvent[], { events, bytes, spanMs = Infinity }: BatchLimits): Run[] {
  const runs: Run[] = []
  let start = 0
  let size = 0
  let [earliestMs, latestMs] = [Infinity, -Infinity]
  for (const [at, piece] of pieces.entries()) {
    const span = Math.max(latestMs, piece.timeMs) - Math.min(earliestMs, piece.timeMs)
    if (at > start && (at - start >= events || size + piece.bytes > bytes || span >= spanMs)) {
      runs.push({ start, end: at })
      start = at
      size = 0
      ;[earliestMs, latestMs] = [Infinity, -Infinity]
    }
    size += piece.bytes + 1 // and what separates it from the next
    earliestMs = Math.min(earliestMs, piece.timeMs)
    latestMs = Math.max(latestMs, piece.timeMs)
  }
  if (pieces.length > 0) runs.push({ start, end: pieces.length })
  return runs
}
