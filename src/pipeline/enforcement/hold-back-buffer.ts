import type { InferenceEvent, Chunk } from '../../domain/inference/events.ts'

/** Pieces of an answer that wait, in order. A piece leaves as a whole or not at all, so that its own words stay whole. */
export type HoldBackBuffer<Ticketed extends Held> = {
  hold(one: Ticketed): void
  isEmpty(): boolean
  /**
   * From the front, as one piece, what may leave now: all of it, or so much that a reader sees a steady flow and not a
   * burst after each check.
   */
  release(pace: 'all' | 'steady'): Chunk | undefined
  /** Gives one block a new text in place of its own, none of which has left yet. */
  replaceText(block: number, text: string): void
  /** Forgets what waits, and ends what has left: the events that make it a complete answer up to there. */
  abandon(): readonly InferenceEvent[]
}

/** A piece, with whatever says when it may leave. */
type Held = { piece: Chunk }

/** As many pieces as come between two checks where each is a token: then one leaves for each that comes. */
const steadyShare = 32

/** `isFree` says whether all that a piece holds may leave by now. */
export function createHoldBackBuffer<Ticketed extends Held>(
  isFree: (one: Ticketed) => boolean,
): HoldBackBuffer<Ticketed> {
  let held: Ticketed[] = []
  /** So many at the front may leave: what once may leave always may. */
  let free = 0
  let start: InferenceEvent | undefined
  let hasStarted = false
  const open = new Set<number>()

  function noteLeaving(event: InferenceEvent): void {
    if (event.type === 'start') hasStarted = true
    if (event.type === 'open') open.add(event.block)
    if (event.type === 'close') open.delete(event.block)
  }

  return {
    hold(one) {
      start ??= one.piece.events.find(({ type }) => type === 'start')
      held.push(one)
    },
    isEmpty: () => held.length === 0,
    release(pace) {
      for (let next = held[free]; next !== undefined && isFree(next); next = held[free]) free += 1
      const isSteady = pace === 'steady' && free < held.length
      const count = isSteady ? Math.ceil(free / steadyShare) : free
      free -= count
      const leaving = count > 1 ? join(held.splice(0, count)) : count === 1 ? held.shift()?.piece : undefined
      if (leaving !== undefined) for (const event of leaving.events) noteLeaving(event)
      return leaving
    },
    replaceText(block, text) {
      for (const one of held) one.piece = withText(one.piece, block, text)
    },
    abandon() {
      held = []
      free = 0
      const begin: InferenceEvent[] = !hasStarted && start !== undefined ? [start] : []
      return [...begin, ...[...open].map((block): InferenceEvent => ({ type: 'close', block }))]
    },
  }
}

/** The new text stands where the block closes; its old deltas, and the proof of them, are gone. */
function withText({ events }: Chunk, block: number, text: string): Chunk {
  return {
    events: events.flatMap((event): readonly InferenceEvent[] => {
      if (!('block' in event) || event.block !== block) return [event]
      if (event.type === 'delta' || event.type === 'signature') return []
      return event.type === 'close' ? [{ type: 'delta', block, text }, event] : [event]
    }),
  }
}

/** Keeps the upstream's own words where all of the pieces have them. */
function join(held: readonly { readonly piece: Chunk }[]): Chunk {
  const events = held.flatMap(({ piece }) => piece.events)
  const originals = held.map(({ piece }) => piece.raw).filter((original) => original?.kind === 'frames')
  const [first] = originals
  if (first === undefined || originals.length < held.length) return { events }
  return { events, raw: { ...first, frames: originals.flatMap(({ frames }) => frames) } }
}
