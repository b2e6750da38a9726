import { pullStreamOf, nextOf, type PullStream } from '../../../base/pull-stream.ts'
import type { Vector } from '../../../domain/inference/embeddings.ts'
import type { InferenceEvent, RawDocument, Chunk } from '../../../domain/inference/events.ts'

/** A complete answer, for a request without `stream`. */
export type WholeAnswer = {
  readonly events: readonly InferenceEvent[]
  /** The upstream's raw document, if it is the whole answer. */
  readonly document?: RawDocument
  /** Of an embeddings response. */
  readonly vectors?: readonly Vector[]
}

/** Usually the whole answer is one chunk. */
export function collectAnswer(chunks: AsyncIterable<Chunk>): Promise<WholeAnswer> {
  const source = pullStreamOf(chunks)
  return nextOf(source).then((first) => {
    if (first === undefined || !hasEnded(first.events)) return collectRest(first, source)
    const { events, raw, vectors } = first
    if (vectors !== undefined) return { events, vectors }
    return raw?.kind === 'document' ? { events, document: raw } : { events }
  })
}

async function collectRest(first: Chunk | undefined, source: PullStream<Chunk>): Promise<WholeAnswer> {
  const events: InferenceEvent[] = []
  for (let chunk = first; chunk !== undefined; chunk = await nextOf(source)) {
    for (const event of chunk.events) events.push(event)
    if (hasEnded(events)) break
  }
  return { events }
}

const hasEnded = (events: readonly InferenceEvent[]): boolean => events.at(-1)?.type === 'end'
