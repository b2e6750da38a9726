import { encodeMessages } from './encode.ts'
import { decodeMessages } from './decode.ts'
import { encodeFault } from './errors.ts'
import { MessagesAnswer, MessagesBody, MessagesError } from './schema.ts'
import { createMessagesWriter } from './stream-writer.ts'
import {
  createInferenceHandler,
  inferenceRefusals,
  maxInferenceBytes,
  FreeTierHeader,
  type InferenceParts,
} from '../inference.ts'
import type { Family } from '../route.ts'
import { createValidator } from '../validate.ts'

/** `/v1/messages`: the Anthropic dialect. */
export function messagesFamily(parts: InferenceParts): Family {
  const validate = createValidator(MessagesBody)
  return {
    name: 'Messages',
    prefixes: ['/v1/messages'],
    refuse: encodeFault,
    refusalSchema: MessagesError,
    routes: [
      {
        method: 'POST',
        path: '/v1/messages',
        summary: 'Create a message',
        credential: 'api_key_or_free',
        bodyLimitBytes: maxInferenceBytes,
        headers: FreeTierHeader,
        body: MessagesBody,
        answers: { 200: { description: 'The message, or with `stream` its events.', schema: MessagesAnswer } },
        refusals: [...inferenceRefusals, 529],
        handle: createInferenceHandler(parts, {
          decode: (body, headers) => decodeMessages(validate(body), headers),
          newAnswerId: (ids) => ids('msg'),
          createWriter: createMessagesWriter,
          encode: encodeMessages,
          headers: (requestId) => ({ 'request-id': requestId }),
        }),
      },
    ],
  }
}
