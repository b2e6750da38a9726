import type { WireFormat } from '../wire-format.ts'
import { createChatDecoder } from './events.ts'
import { createChatCheck } from './conformance.ts'
import type { ChatFlags } from './servers.ts'
import { encodeChatRequest } from './request.ts'
import { chatShape } from './shape.ts'

/** The chat completions format: OpenAI, and nearly every open-source inference server. */
export const chatFormat = (flags: ChatFlags): WireFormat => ({
  dialect: 'chat',
  encode: (context) => encodeChatRequest(context, flags),
  createDecoder: createChatDecoder,
  createConformanceCheck: createChatCheck,
  shape: chatShape,
  allowsFrameCache: true,
})
