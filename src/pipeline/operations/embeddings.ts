import { Fault } from '../../base/fault.ts'
import type { EmbeddingsRequest } from '../../domain/inference/embeddings.ts'
import type { Operation } from '../operation.ts'

/** Vectors for texts. Each input is scanned as a text of its own. The answer has no text, so there is nothing to guard in it. */
export const embeddingsOperation: Operation<EmbeddingsRequest> = {
  name: 'embeddings',
  countableOf: ({ inputs }) => ({ texts: inputs, extraTokens: 0 }),
  outputLimitOf: () => ({ tokens: 0, isExplicit: true }),
  textsOf({ inputs }) {
    const texts = inputs.filter((input) => /\S/.test(input))
    // One empty text, because rules may depend on the caller alone.
    // What is embedded is mostly a part of a document that a model reads later.
    return { texts: texts.length === 0 ? [''] : texts, places: new Map(texts.map((text) => [text, ['documents']])) }
  },
  changeTexts: (request, change) => ({ ...request, inputs: request.inputs.map(change) }),
  messagesOf: ({ inputs }) => inputs.map((text) => ({ role: 'user', parts: [{ type: 'text', text }] })),
  start(provider, call) {
    for (const field of call.request.unknownFields) call.onDropped(field)
    if (provider.embed !== undefined) return provider.embed(call)
    const message = `The upstream ${provider.name} has no embeddings.`
    throw new Fault('upstream_failed', 'upstream_error', message, { isPermanent: true })
  },
}
