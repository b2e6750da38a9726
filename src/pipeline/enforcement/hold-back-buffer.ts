import type { InferenceEvent, Chunk } from '../../domain/inference/events.ts'

/** Chunks of a response that are held back, in order. A chunk is sent whole or not at all, so that its raw frames stay intact. */
export type HoldBackBuffer<One extends Held> = {
  hold(one: One): void
  isEmpty(): boolean
  /** The chunks that are held back now. */
  chunks(): readonly Chunk[]
  /** Takes the chunks from the front that may be sent now, joined to one. */
  release(): Chunk | undefined
  /** Replaces the text of a block of which nothing has been sent yet. */
  replaceText(block: number, text: string): void
  /** Drops all held chunks. Returns the events that complete what was sent: a missing `start`, and a `close` per open block. */
  abandon(): readonly InferenceEvent[]
}

/** A chunk, with whatever decides when it may be sent. */
type Held = { chunk: Chunk }

/** `onLeave` is called with the oldest of the chunks that leave together, sent or dropped. */
export const createHoldBackBuffer = <One extends Held>(
  mayBeSent: (one: One) => boolean,
  onLeave: (oldest: One) => void,
): HoldBackBuffer<One> => new ChunkBuffer(mayBeSent, onLeave)

/** A class, because an object with its own closures would cost every response more memory. */
class ChunkBuffer<One extends Held> implements HoldBackBuffer<One> {
  readonly mayBeSent: (one: One) => boolean
  readonly onLeave: (oldest: One) => void
  held: One[] = []
  start: InferenceEvent | undefined = undefined
  hasStarted = false
  /** The blocks that were sent and are open. */
  open: number[] = []

  constructor(mayBeSent: (one: One) => boolean, onLeave: (oldest: One) => void) {
    this.mayBeSent = mayBeSent
    this.onLeave = onLeave
  }

  hold(one: One): void {
    if (this.start === undefined) this.start = one.chunk.events.find(({ type }) => type === 'start')
    // Usually there is one chunk. A literal array is cheaper than `push` on an empty one, which reserves space for many.
    if (this.held.length === 0) this.held = [one]
    else this.held.push(one)
  }

  isEmpty(): boolean {
    return this.held.length === 0
  }

  chunks(): readonly Chunk[] {
    return this.held.map(({ chunk }) => chunk)
  }

  release(): Chunk | undefined {
    const { held } = this
    let count = 0
    for (let next = held[0]; next !== undefined && this.mayBeSent(next); next = held[count]) count += 1
    const [oldest] = held
    if (count === 0 || oldest === undefined) return undefined
    this.onLeave(oldest)
    const released = count > 1 ? join(held.slice(0, count)) : oldest.chunk
    this.held = count === held.length ? none : held.slice(count)
    for (const event of released.events) this.trackSent(event)
    return released
  }

  trackSent(event: InferenceEvent): void {
    if (event.type === 'start') this.hasStarted = true
    else if (event.type === 'open') this.open = [...this.open, event.block]
    else if (event.type === 'close') this.open = this.open.filter((block) => block !== event.block)
  }

  replaceText(block: number, text: string): void {
    for (const one of this.held) one.chunk = withText(one.chunk, block, text)
  }

  abandon(): readonly InferenceEvent[] {
    const [oldest] = this.held
    if (oldest !== undefined) this.onLeave(oldest)
    this.held = none
    const begin: InferenceEvent[] = !this.hasStarted && this.start !== undefined ? [this.start] : []
    return [...begin, ...this.open.map((block): InferenceEvent => ({ type: 'close', block }))]
  }
}

const none: never[] = []

/** Puts the new text before the `close` event, and removes the old deltas with their citations and reasoning signature. */
export function withText({ events }: Chunk, block: number, text: string): Chunk {
  return {
    events: events.flatMap((event): readonly InferenceEvent[] => {
      if (!('block' in event) || event.block !== block) return [event]
      if (event.type === 'delta' || event.type === 'citation' || event.type === 'signature') return []
      return event.type === 'close' ? [{ type: 'delta', block, text }, event] : [event]
    }),
  }
}

/** Keeps the upstream's raw frames if every chunk has them. */
function join(held: readonly { readonly chunk: Chunk }[]): Chunk {
  const events = held.flatMap(({ chunk }) => chunk.events)
  const raws = held.map(({ chunk }) => chunk.raw).filter((raw) => raw?.kind === 'frames')
  const [first] = raws
  if (first === undefined || raws.length < held.length) return { events }
  return { events, raw: { ...first, frames: raws.flatMap(({ frames }) => frames) } }
}
