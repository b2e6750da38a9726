import { totalInputTokens, totalTokens, type InferenceEnd } from '../../domain/inference/events.ts'
import { base64Of, floatsOf, type EmbeddingsRequest } from '../../domain/inference/embeddings.ts'
import { embeddingsOperation } from '../../pipeline/operations/embeddings.ts'
import {
  createInferenceHandler,
  inferenceErrorStatuses,
  InferenceHeaders,
  maxInferenceBytes,
} from '../inference/endpoint.ts'
import { createRejectedBodyCounter } from '../inference/count-rejected-body.ts'
import type { DialectCodec, InferenceParts } from '../inference/codec.ts'
import { encodeOpenaiFault, OpenaiErrorBody } from '../inference/openai-errors.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import type { WholeAnswer } from '../inference/writing/whole-answer.ts'
import type { EndpointFamily } from '../route.ts'
import { createValidator } from '../validate.ts'
import { decodeEmbeddings, requireLength, type EmbeddingsInputParts } from './decode.ts'
import { EmbeddingsAnswer, EmbeddingsBody } from './schema.ts'

export type EmbeddingsParts = InferenceParts & EmbeddingsInputParts

/** `/v1/embeddings`: vectors in OpenAI's format. */
export function embeddingsFamily(parts: EmbeddingsParts): EndpointFamily {
  return {
    name: 'Embeddings',
    description: 'Vectors for texts, in the format of OpenAI’s embeddings endpoint.',
    prefixes: ['/v1/embeddings'],
    encodeError: encodeOpenaiFault,
    errorSchema: OpenaiErrorBody,
    routes: [
      {
        name: 'createEmbeddings',
        method: 'POST',
        path: '/v1/embeddings',
        summary: 'Create embeddings',
        description: 'All checks read every input, as in a chat. The vectors are not checked.',
        credential: 'api_key_or_free',
        sdk: { vendor: 'openai', method: 'embeddings.create' },
        bodyLimitBytes: maxInferenceBytes,
        headers: InferenceHeaders,
        body: EmbeddingsBody,
        answers: {
          200: {
            description: 'One vector for each input, in their order.',
            schema: EmbeddingsAnswer,
            headers: ['x-gatehouse-dropped', 'x-gatehouse-switched-model'],
          },
        },
        errorStatuses: inferenceErrorStatuses,
        onRejectedBody: createRejectedBodyCounter(parts),
        handle: createInferenceHandler(parts, createEmbeddingsCodec(parts)),
      },
    ],
  }
}

function createEmbeddingsCodec(parts: EmbeddingsInputParts): DialectCodec<EmbeddingsRequest> {
  const validate = createValidator(EmbeddingsBody)
  return {
    operation: embeddingsOperation,
    path: '/v1/embeddings',
    async decode({ body, caller }) {
      requireLength(body)
      return { request: await decodeEmbeddings(validate(body), caller, parts) }
    },
    newAnswerId: (ids) => ids('emb'),
    encode: ({ model, request }, { events, vectors = [] }) => {
      const encode = request.encoding === 'base64' ? base64Of : floatsOf
      const end = endOf(events)
      return {
        object: 'list',
        data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) })),
        model,
        usage: { prompt_tokens: totalInputTokens(end.usage), total_tokens: totalTokens(end.usage) },
        ...creditFields(end),
      }
    },
  }
}

function endOf(events: WholeAnswer['events']): InferenceEnd {
  const last = events.at(-1)
  if (last?.type !== 'end') throw new Error('Illegal event order: the end is missing.')
  return last
}
