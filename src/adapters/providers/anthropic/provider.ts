import { readDataList } from '../model-list.ts'
import type { HttpVendor } from '../vendor.ts'
import { countWithout, type WireFormat } from '../wire-format.ts'
import { createMessagesDecoder } from './events.ts'
import { createMessagesCheck } from './conformance.ts'
import type { MessagesFlags } from './request.ts'
import { encodeMessagesRequest } from './request.ts'
import { messagesShape } from './shape.ts'

/** The Messages format. */
const messagesFormat = (flags: MessagesFlags): WireFormat => ({
  name: 'messages',
  passthroughFor: 'messages',
  encode: (context) => encodeMessagesRequest(context, flags),
  createDecoder: createMessagesDecoder,
  createConformanceCheck: createMessagesCheck,
  shape: messagesShape,
  allowsFrameCache: true,
  tokenCounter: countWithout('/count_tokens', [
    'max_tokens',
    'stream',
    'metadata',
    'stop_sequences',
    'temperature',
    'top_p',
    'top_k',
  ]),
})

/** Anthropic, and servers that imitate its API. */
export const anthropicVendor: HttpVendor = {
  systemName: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  path: '/v1/messages',
  modelsPath: '/v1/models',
  readModels: readDataList,
  auth: (apiKey) => ({ 'x-api-key': apiKey }),
  formatAt: (url) => messagesFormat({ isVendor: url.hostname.endsWith('.anthropic.com') }),
}
