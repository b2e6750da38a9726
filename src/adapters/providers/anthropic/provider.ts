import type { Family } from '../http-provider.ts'
import { createDecoder } from './events.ts'
import { createFormCheck } from './form.ts'
import type { MessagesFlags } from './request.ts'
import { encodeRequest } from './request.ts'
import { messagesShape } from './shape.ts'

/** Upstreams that speak the Messages format: Anthropic itself, and open servers that imitate it. */
export const messagesFamily = (flags: MessagesFlags): Family => ({
  dialect: 'messages',
  encode: (encoding) => encodeRequest(encoding, flags),
  createDecoder,
  createFormCheck,
  shape: messagesShape,
  forgetsText: true,
  counter: {
    path: '/count_tokens',
    without: ['max_tokens', 'stream', 'metadata', 'stop_sequences', 'temperature', 'top_p', 'top_k'],
  },
})
