import type { Clock } from '../../base/clock.ts'
import { isRecord } from '../../base/record.ts'
import type { InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import type { StoredResponse, StoredResponses } from '../../domain/inference/stored-responses.ts'
import { frameObject, type AnswerContext } from '../inference/writing/stream-writer.ts'
import { encodeResponses } from './encode.ts'

export type StoreResponseParts = {
  readonly stored: StoredResponses
  readonly clock: Clock
  readonly retentionMs: number
}

/** The fields of a stored response that are known before the answer. */
export type StoredAnswer = Pick<StoredResponse, 'organizationId' | 'projectId' | 'previousId' | 'input'>

/** The context must produce the same ids as the copy sent to the caller. */
type Writing = { readonly context: AnswerContext; readonly parts: StoreResponseParts }

/**
 * Stores the complete response before its last chunk is sent, because the caller may refer to it right after the end.
 */
export async function* storingResponse(chunks: AsyncIterable<Chunk>, known: StoredAnswer, writing: Writing) {
  const events: InferenceEvent[] = []
  for await (const chunk of chunks) {
    events.push(...chunk.events)
    if (chunk.events.at(-1)?.type === 'end') await save(documentOf(chunk, events, writing.context), known, writing)
    yield chunk
  }
}

async function save(
  document: StoredResponse['document'],
  known: StoredAnswer,
  { context, parts }: Writing,
): Promise<void> {
  const nowMs = parts.clock.nowMs()
  await parts.stored.save({
    ...known,
    id: context.id,
    document,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + parts.retentionMs,
  })
}

/** The upstream's own output if it has this dialect, so that its item ids can be referenced; otherwise the encoded answer. */
function documentOf(
  { raw }: Chunk,
  events: readonly InferenceEvent[],
  context: AnswerContext,
): Record<string, unknown> {
  const whole = encodeResponses(context, { events, ...(raw?.kind === 'document' && { document: raw }) })
  if (raw?.kind !== 'frames' || raw.dialect !== 'responses') return whole
  const last = raw.frames.findLast(({ data }) => data.includes('"response"'))
  const response = last && frameObject(last.data)['response']
  return isRecord(response) && Array.isArray(response['output']) ? { ...whole, output: response['output'] } : whole
}
