import { decodeChat } from './decode.ts'
import { usesFunctions } from './legacy-functions.ts'
import { encodeChat } from './encode.ts'
import { ChatAnswer, ChatEvent } from './answer-schema.ts'
import { ChatBody } from './schema.ts'
import { createChatWriter } from './stream-writer.ts'
import {
  createInferenceHandler,
  inferenceErrorStatuses,
  maxInferenceBytes,
  InferenceHeaders,
} from '../inference/endpoint.ts'
import { createRejectedBodyCounter } from '../inference/count-rejected-body.ts'
import type { DialectCodec, InferenceParts } from '../inference/codec.ts'
import { encodeOpenaiFault, OpenaiErrorBody } from '../inference/openai-errors.ts'
import { chatOperation } from '../../pipeline/operations/chat.ts'
import type { EndpointFamily } from '../route.ts'
import { createValidator } from '../validate.ts'

export function createChatCodec(): DialectCodec {
  const validate = createValidator(ChatBody)
  return {
    operation: chatOperation,
    path: '/v1/chat/completions',
    decode({ body }) {
      const valid = validate(body)
      return { request: decodeChat(valid), usesFunctions: usesFunctions(valid) }
    },
    newAnswerId: (ids) => ids('chatcmpl').replace('_', '-'),
    createWriter: createChatWriter,
    encode: encodeChat,
  }
}

/** `/v1/chat/completions`: the OpenAI chat dialect. */
export function chatFamily(parts: InferenceParts): EndpointFamily {
  const onRejectedBody = createRejectedBodyCounter(parts)
  return {
    name: 'Chat',
    description: 'Inference in the format of OpenAI’s Chat Completions API.',
    prefixes: ['/v1/chat'],
    encodeError: encodeOpenaiFault,
    errorSchema: OpenaiErrorBody,
    routes: [
      {
        name: 'createChatCompletion',
        method: 'POST',
        path: '/v1/chat/completions',
        summary: 'Create a chat completion',
        credential: 'api_key_or_free',
        sdk: { vendor: 'openai', method: 'chat.completions.create' },
        bodyLimitBytes: maxInferenceBytes,
        headers: InferenceHeaders,
        body: ChatBody,
        answers: {
          200: {
            description: 'The completion, or with `stream` its chunks.',
            schema: ChatAnswer,
            event: ChatEvent,
            headers: ['x-gatehouse-dropped', 'x-gatehouse-hold-back', 'x-gatehouse-switched-model'],
          },
        },
        errorStatuses: inferenceErrorStatuses,
        onRejectedBody,
        handle: createInferenceHandler(parts, createChatCodec()),
      },
    ],
  }
}
