import { hash } from 'node:crypto'
import { estimateCountable } from '../../../domain/inference/count.ts'
import type { EmbeddingsRequest } from '../../../domain/inference/embeddings.ts'
import type { Chunk } from '../../../domain/inference/events.ts'
import type { ProviderCall } from '../../../domain/inference/provider.ts'

const defaultDimensions = 256

/** Unit vectors that depend on the text alone. Texts with a similar meaning are not closer to each other than others. */
export async function* echoVectors({ request, model }: ProviderCall<EmbeddingsRequest>): AsyncGenerator<Chunk, void> {
  const { inputs, dimensions = defaultDimensions } = request
  const inputTokens = estimateCountable({ texts: inputs, extraTokens: 0 })
  const none = { cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 }
  yield {
    events: [
      { type: 'start', model },
      { type: 'end', stopReason: 'end', usage: { ...none, inputTokens, source: 'reported' } },
    ],
    vectors: inputs.map((text) => unitVector(text, dimensions)),
  }
}

function unitVector(text: string, dimensions: number): readonly number[] {
  let state = hash('sha256', text, 'buffer').readUInt32LE(0)
  // Mulberry32: a small generator with an even distribution.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1
  }
  const values = Array.from({ length: dimensions }, next)
  const length = Math.hypot(...values) || 1
  return values.map((value) => Math.fround(value / length))
}
