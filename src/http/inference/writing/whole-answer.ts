import { pullStreamOf, nextOf } from '../../../base/pull-stream.ts'
import type { InferenceEvent, RawDocument, Chunk } from '../../../domain/inference/events.ts'

/** An answer read to its end, for a caller who did not ask for a stream. */
export type WholeAnswer = {
  readonly events: readonly InferenceEvent[]
  /** The upstream's own document, where it is all there is to the answer. */
  readonly document?: RawDocument
}

export async function collectAnswer(pieces: AsyncIterable<Chunk>): Promise<WholeAnswer> {
  const source = pullStreamOf(pieces)
  const first = await nextOf(source)
  if (first !== undefined && hasEnded(first.events)) {
    const { events, raw: original } = first
    return original?.kind === 'document' ? { events, document: original } : { events }
  }
  const events: InferenceEvent[] = []
  for (let piece = first; piece !== undefined; piece = await nextOf(source)) {
    for (const event of piece.events) events.push(event)
    if (hasEnded(events)) break
  }
  return { events }
}

const hasEnded = (events: readonly InferenceEvent[]): boolean => events.at(-1)?.type === 'end'
