import { decodeChat } from '../http/chat/decode.ts'
import { ChatBody } from '../http/chat/schema.ts'
import { decodeMessages } from '../http/messages/decode.ts'
import { MessagesBody } from '../http/messages/schema.ts'
import type { DecodeBody } from '../http/resources/scenario.ts'
import { createValidator } from '../http/validate.ts'

/** Gives simulations the decoders of the inference endpoints. Endpoint families do not import one another. */
export function createDecodeBody(): DecodeBody {
  const readMessages = createValidator(MessagesBody)
  const readChat = createValidator(ChatBody)
  return (dialect, body) =>
    dialect === 'messages' ? decodeMessages(readMessages(body), {}) : decodeChat(readChat(body))
}
