import type { Family } from '../http-provider.ts'
import { createDecoder } from './events.ts'
import { createFormCheck } from './form.ts'
import { encodeRequest } from './request.ts'
import type { ResponsesFlags } from './tools.ts'
import { responsesShape } from './shape.ts'

/** Upstreams that speak the Responses format: OpenAI itself, and open servers that imitate it. */
export const responsesFamily = (flags: ResponsesFlags): Family => ({
  dialect: 'responses',
  encode: (encoding) => encodeRequest(encoding, flags),
  createDecoder,
  createFormCheck,
  shape: responsesShape,
  counter: {
    path: '/input_tokens',
    without: ['max_output_tokens', 'stream', 'store', 'include', 'metadata', 'temperature', 'top_p'],
  },
})
