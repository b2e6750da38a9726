import type { InferenceEvent, OriginalDocument, Piece } from '../../domain/inference/events.ts'

/** An answer read to its end, for a caller who did not ask for a stream. */
export type WholeAnswer = {
  readonly events: readonly InferenceEvent[]
  /** The upstream's own document, where it is all there is to the answer. */
  readonly document?: OriginalDocument
}

export async function collectAnswer(pieces: AsyncIterable<Piece>): Promise<WholeAnswer> {
  const source = pieces[Symbol.asyncIterator]()
  const first = await source.next()
  if (first.done !== true && hasEnded(first.value.events)) {
    const { events, original } = first.value
    return original?.kind === 'document' ? { events, document: original } : { events }
  }
  const events: InferenceEvent[] = []
  for (let step = first; step.done !== true; step = await source.next()) {
    for (const event of step.value.events) events.push(event)
    if (hasEnded(events)) break
  }
  return { events }
}

const hasEnded = (events: readonly InferenceEvent[]): boolean => events.at(-1)?.type === 'end'
