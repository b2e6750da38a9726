import type { WireFormat } from '../http-provider.ts'
import { createMessagesDecoder } from './events.ts'
import { createMessagesCheck } from './conformance.ts'
import type { MessagesFlags } from './request.ts'
import { encodeMessagesRequest } from './request.ts'
import { messagesShape } from './shape.ts'

/** Upstreams that speak the Messages format: Anthropic itself, and open servers that imitate it. */
export const messagesFormat = (flags: MessagesFlags): WireFormat => ({
  dialect: 'messages',
  encode: (encoding) => encodeMessagesRequest(encoding, flags),
  createDecoder: createMessagesDecoder,
  createFormCheck: createMessagesCheck,
  shape: messagesShape,
  forgetsText: true,
  counter: {
    path: '/count_tokens',
    without: ['max_tokens', 'stream', 'metadata', 'stop_sequences', 'temperature', 'top_p', 'top_k'],
  },
})
