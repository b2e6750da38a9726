import type { WireFormat } from '../http-provider.ts'
import { createChatDecoder } from './events.ts'
import { createChatCheck } from './conformance.ts'
import type { ChatFlags } from './flags.ts'
import { encodeChatRequest } from './request.ts'
import { chatShape } from './shape.ts'

/** Upstreams that speak chat completions: OpenAI itself and nearly every open server. */
export const chatFormat = (flags: ChatFlags): WireFormat => ({
  dialect: 'chat',
  encode: (encoding) => encodeChatRequest(encoding, flags),
  createDecoder: createChatDecoder,
  createFormCheck: createChatCheck,
  shape: chatShape,
  forgetsText: true,
})
