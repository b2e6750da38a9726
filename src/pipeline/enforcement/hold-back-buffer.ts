import type { InferenceEvent, Chunk } from '../../domain/inference/events.ts'

/** Chunks of a response that are held back, in order. A chunk is sent whole or not at all, so that its raw frames stay intact. */
export type HoldBackBuffer<One extends Held> = {
  hold(one: One): void
  isEmpty(): boolean
  /** Takes the chunks from the front that may be sent now, joined to one. */
  release(): Chunk | undefined
  /** Replaces the text of a block of which nothing has been sent yet. */
  replaceText(block: number, text: string): void
  /** Drops all held chunks. Returns the events that complete what was sent: a missing `start`, and a `close` per open block. */
  abandon(): readonly InferenceEvent[]
}

/** A chunk, with whatever decides when it may be sent. */
type Held = { chunk: Chunk }

export function createHoldBackBuffer<One extends Held>(mayBeSent: (one: One) => boolean): HoldBackBuffer<One> {
  let held: One[] = []
  let start: InferenceEvent | undefined
  let hasStarted = false
  const open = new Set<number>()

  function trackSent(event: InferenceEvent): void {
    if (event.type === 'start') hasStarted = true
    if (event.type === 'open') open.add(event.block)
    if (event.type === 'close') open.delete(event.block)
  }

  return {
    hold(one) {
      start ??= one.chunk.events.find(({ type }) => type === 'start')
      held.push(one)
    },
    isEmpty: () => held.length === 0,
    release() {
      let count = 0
      for (let next = held[0]; next !== undefined && mayBeSent(next); next = held[count]) count += 1
      const released = count > 1 ? join(held.splice(0, count)) : count === 1 ? held.shift()?.chunk : undefined
      if (released !== undefined) for (const event of released.events) trackSent(event)
      return released
    },
    replaceText(block, text) {
      for (const one of held) one.chunk = withText(one.chunk, block, text)
    },
    abandon() {
      held = []
      const begin: InferenceEvent[] = !hasStarted && start !== undefined ? [start] : []
      return [...begin, ...[...open].map((block): InferenceEvent => ({ type: 'close', block }))]
    },
  }
}

/** Puts the new text before the `close` event, and removes the old deltas with their citations and reasoning signature. */
function withText({ events }: Chunk, block: number, text: string): Chunk {
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
