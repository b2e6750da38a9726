import { readDataList } from '../model-list.ts'
import { bearer, type HttpVendor } from '../vendor.ts'
import type { WireFormat } from '../wire-format.ts'
import { createChatDecoder } from './events.ts'
import { createChatCheck } from './conformance.ts'
import { chatFlagsOf, type ChatFlags } from './servers.ts'
import { encodeChatRequest } from './request.ts'
import { chatShape } from './shape.ts'

/** The chat completions format. */
const chatFormat = (flags: ChatFlags): WireFormat => ({
  name: 'chat',
  passthroughFor: 'chat',
  encode: (context) => encodeChatRequest(context, flags),
  createDecoder: createChatDecoder,
  createConformanceCheck: createChatCheck,
  shape: chatShape,
  allowsFrameCache: true,
})

/** OpenAI, and nearly every open-source inference server. */
export const chatVendor: HttpVendor = {
  // Servers of many vendors have this format.
  systemName: undefined,
  baseUrl: 'https://api.openai.com/v1',
  path: '/chat/completions',
  embeddingsPath: '/embeddings',
  modelsPath: '/models',
  readModels: readDataList,
  auth: bearer,
  formatAt: (url, { server, chatOverrides }) => chatFormat(chatFlagsOf(url, server, chatOverrides)),
}
