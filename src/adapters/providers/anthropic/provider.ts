import type { WireFormat } from '../wire-format.ts'
import { createMessagesDecoder } from './events.ts'
import { createMessagesCheck } from './conformance.ts'
import type { MessagesFlags } from './request.ts'
import { encodeMessagesRequest } from './request.ts'
import { messagesShape } from './shape.ts'

/** The Messages format: Anthropic, and servers that imitate its API. */
export const messagesFormat = (flags: MessagesFlags): WireFormat => ({
  dialect: 'messages',
  encode: (context) => encodeMessagesRequest(context, flags),
  createDecoder: createMessagesDecoder,
  createConformanceCheck: createMessagesCheck,
  shape: messagesShape,
  allowsFrameCache: true,
  tokenCounter: {
    path: '/count_tokens',
    omittedFields: ['max_tokens', 'stream', 'metadata', 'stop_sequences', 'temperature', 'top_p', 'top_k'],
  },
})
