import type { Family } from '../http-provider.ts'
import { createDecoder } from './events.ts'
import { createFormCheck } from './form.ts'
import type { ChatFlags } from './flags.ts'
import { encodeRequest } from './request.ts'
import { chatShape } from './shape.ts'

/** Upstreams that speak chat completions: OpenAI itself and nearly every open server. */
export const chatFamily = (flags: ChatFlags): Family => ({
  dialect: 'chat',
  encode: (encoding) => encodeRequest(encoding, flags),
  createDecoder,
  createFormCheck,
  shape: chatShape,
  forgetsText: true,
})
