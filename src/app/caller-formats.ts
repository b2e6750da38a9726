import type { InferenceRequest } from '../domain/inference/request.ts'
import type { PlaygroundParts } from '../http/admin/playground/route.ts'
import { decodeChat } from '../http/chat/decode.ts'
import { createChatCodec } from '../http/chat/routes.ts'
import { ChatBody } from '../http/chat/schema.ts'
import { encodeOpenaiFault } from '../http/inference/openai-errors.ts'
import { decodeMessages } from '../http/messages/decode.ts'
import { encodeMessagesFault } from '../http/messages/errors.ts'
import { createMessagesCodec } from '../http/messages/routes.ts'
import { MessagesBody } from '../http/messages/schema.ts'
import type { DecodeBody } from '../http/resources/scenario.ts'
import { encodeResponsesFault } from '../http/responses/errors.ts'
import { createResponsesCodec } from '../http/responses/routes.ts'
import type { StoreResponseParts } from '../http/responses/store-response.ts'
import { createValidator } from '../http/validate.ts'

/** Gives simulations the decoders of the inference endpoints. Endpoint families do not import one another. */
export function createDecodeBody(): DecodeBody {
  const readMessages = createValidator(MessagesBody)
  const readChat = createValidator(ChatBody)
  const decoders: Readonly<Record<Parameters<DecodeBody>[0], (body: object) => InferenceRequest>> = {
    messages: (body) => decodeMessages(readMessages(body), {}),
    chat: (body) => decodeChat(readChat(body)),
  }
  return (dialect, body) => decoders[dialect](body)
}

/** Gives the playground the formats of the inference endpoints. */
export const createPlaygroundFormats = (parts: StoreResponseParts): PlaygroundParts['formats'] => ({
  messages: { codec: createMessagesCodec(), encodeError: encodeMessagesFault },
  responses: { codec: createResponsesCodec(parts), encodeError: encodeResponsesFault },
  chat: { codec: createChatCodec(), encodeError: encodeOpenaiFault },
})
