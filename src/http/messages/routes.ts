import { encodeMessages } from './encode.ts'
import { decodeCountTokens, decodeMessages } from './decode.ts'
import { encodeDetailFault, encodeMessagesFault } from './errors.ts'
import { CountTokensAnswer, MessagesAnswer, MessagesError, MessagesEvent, TokenCountProblems } from './answer-schema.ts'
import { CountTokensBody, MessagesBody } from './schema.ts'
import { readBody } from './body.ts'
import { createMessagesWriter } from './stream-writer.ts'
import {
  createInferenceHandler,
  inferenceErrorStatuses,
  maxInferenceBytes,
  InferenceHeaders,
} from '../inference/endpoint.ts'
import { createRejectedBodyCounter } from '../inference/count-rejected-body.ts'
import type { DialectCodec, InferenceParts } from '../inference/codec.ts'
import { countDescription, createCountHandler, type CountEndpointParts } from '../inference/count.ts'
import { chatOperation } from '../../pipeline/operations/chat.ts'
import type { EndpointFamily } from '../route.ts'
import { createValidator, withInputs } from '../validate.ts'

const countPath = '/v1/messages/count_tokens'

/** Clients of this dialect read only this header as the request id. */
const idHeaders = (requestId: string) => ({ 'request-id': requestId })

export function createMessagesCodec(): DialectCodec {
  const validate = createValidator(MessagesBody)
  return {
    operation: chatOperation,
    path: '/v1/messages',
    decode: ({ body, headers }) => ({ request: decodeMessages(validate(readBody(body)), headers) }),
    newAnswerId: (ids) => ids('msg'),
    createWriter: createMessagesWriter,
    encode: encodeMessages,
    headers: idHeaders,
  }
}

/** `/v1/messages`: the Anthropic dialect. */
export function messagesFamily(parts: InferenceParts & CountEndpointParts): EndpointFamily {
  const onRejectedBody = createRejectedBodyCounter(parts)
  const validateCount = createValidator(CountTokensBody)
  return {
    name: 'Messages',
    description: 'Inference in the format of Anthropic’s Messages API.',
    prefixes: ['/v1/messages'],
    encodeError: (fault, requestId, path) =>
      path === countPath ? encodeDetailFault(fault, requestId) : encodeMessagesFault(fault, requestId),
    errorSchema: MessagesError,
    hasRequestIdHeader: true,
    routes: [
      {
        name: 'createMessage',
        method: 'POST',
        path: '/v1/messages',
        summary: 'Create a message',
        credential: 'api_key_or_free',
        sdk: { vendor: 'anthropic', method: 'messages.create' },
        bodyLimitBytes: maxInferenceBytes,
        headers: InferenceHeaders,
        body: MessagesBody,
        answers: {
          200: {
            description: 'The message, or with `stream` its events.',
            schema: MessagesAnswer,
            event: MessagesEvent,
            headers: ['x-gatehouse-dropped', 'x-gatehouse-hold-back', 'x-gatehouse-switched-model'],
          },
        },
        errorStatuses: [...inferenceErrorStatuses, 529],
        onRejectedBody,
        handle: createInferenceHandler(parts, createMessagesCodec()),
      },
      {
        name: 'countTokens',
        method: 'POST',
        path: countPath,
        summary: 'Count the input tokens of a message',
        credential: 'api_key',
        sdk: { vendor: 'anthropic', method: 'messages.countTokens' },
        bodyLimitBytes: maxInferenceBytes,
        body: CountTokensBody,
        answers: {
          200: {
            description: countDescription,
            schema: CountTokensAnswer,
            headers: ['x-gatehouse-token-source', 'x-gatehouse-dropped'],
          },
        },
        errorStatuses: [400, 401, 403, 404, 408, 413, 422, 429, 500, 503],
        errorSchemas: { 422: TokenCountProblems },
        onRejectedBody,
        handle: createCountHandler(parts, {
          decode({ body, headers }) {
            try {
              return decodeCountTokens(validateCount(readBody(body)), headers)
            } catch (error) {
              throw withInputs(error, body)
            }
          },
          editingFields: ({ raw }) => ('context_management' in raw.body ? ['context_management'] : []),
          present: (inputTokens) => ({ input_tokens: inputTokens }),
          headers: idHeaders,
        }),
      },
    ],
  }
}
