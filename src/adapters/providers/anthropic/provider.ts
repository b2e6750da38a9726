import type { Family } from '../http-provider.ts'
import { createDecoder } from './events.ts'
import type { MessagesFlags } from './request.ts'
import { encodeRequest } from './request.ts'

/** Upstreams that speak the Messages format: Anthropic itself, and open servers that imitate it. */
export const messagesFamily = (flags: MessagesFlags): Family => ({
  dialect: 'messages',
  encode: (encoding) => encodeRequest(encoding, flags),
  createDecoder,
})
