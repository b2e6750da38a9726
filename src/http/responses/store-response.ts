import type { Clock } from '../../base/clock.ts'
import { isRecord } from '../../base/record.ts'
import type { InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import type { StoredResponse, StoredResponses } from '../../domain/inference/stored-responses.ts'
import { frameObject, type AnswerContext } from '../inference/writing/stream-writer.ts'
import { encodeResponses } from './encode.ts'

export type StoreResponseParts = { readonly stored: StoredResponses; readonly clock: Clock; readonly keepMs: number }

/** What is known about a response before it is answered. */
export type StoredAnswer = Pick<StoredResponse, 'organizationId' | 'projectId' | 'previousId' | 'input'>

/** How the answer is written: the context must make the same ids as the one that the caller's copy is written with. */
type Writing = { readonly context: AnswerContext; readonly parts: StoreResponseParts }

/**
 * Keeps the finished response before its last piece goes out: whoever reads the end may go on from it at once.
 */
export async function* storingResponse(pieces: AsyncIterable<Chunk>, known: StoredAnswer, writing: Writing) {
  const events: InferenceEvent[] = []
  for await (const piece of pieces) {
    events.push(...piece.events)
    if (piece.events.at(-1)?.type === 'end') await keep(documentOf(piece, events, writing.context), known, writing)
    yield piece
  }
}

async function keep(
  document: StoredResponse['document'],
  known: StoredAnswer,
  { context, parts }: Writing,
): Promise<void> {
  const nowMs = parts.clock.nowMs()
  await parts.stored.save({ ...known, id: context.id, document, createdAtMs: nowMs, expiresAtMs: nowMs + parts.keepMs })
}

/** The upstream's own last word where it speaks this dialect, so that its item ids can be referred to; ours otherwise. */
function documentOf(
  { raw: original }: Chunk,
  events: readonly InferenceEvent[],
  context: AnswerContext,
): Record<string, unknown> {
  const whole = encodeResponses(context, { events, ...(original?.kind === 'document' && { document: original }) })
  if (original?.kind !== 'frames' || original.dialect !== 'responses') return whole
  const last = original.frames.findLast(({ data }) => data.includes('"response"'))
  const response = last && frameObject(last.data)['response']
  return isRecord(response) && Array.isArray(response['output']) ? { ...whole, output: response['output'] } : whole
}
