import type { InferenceEvent, OriginalDocument, Piece } from '../domain/inference/events.ts'

/** An answer read to its end, for a caller who did not ask for a stream. */
export type WholeAnswer = {
  readonly events: readonly InferenceEvent[]
  /** The upstream's own document, where it is all there is to the answer. */
  readonly document?: OriginalDocument
}

export async function collectAnswer(pieces: AsyncIterable<Piece>): Promise<WholeAnswer> {
  const events: InferenceEvent[] = []
  let count = 0
  let document: OriginalDocument | undefined
  for await (const piece of pieces) {
    for (const event of piece.events) events.push(event)
    if (piece.original?.kind === 'document') document = piece.original
    count += 1
  }
  return document !== undefined && count === 1 ? { events, document } : { events }
}
