import type { WireFormat } from '../http-provider.ts'
import { createResponsesDecoder } from './events.ts'
import { createResponsesCheck } from './conformance.ts'
import { encodeResponsesRequest } from './request.ts'
import type { ResponsesFlags } from './tools.ts'
import { responsesShape } from './shape.ts'

/** Upstreams that speak the Responses format: OpenAI itself, and open servers that imitate it. */
export const responsesFormat = (flags: ResponsesFlags): WireFormat => ({
  dialect: 'responses',
  encode: (encoding) => encodeResponsesRequest(encoding, flags),
  createDecoder: createResponsesDecoder,
  createFormCheck: createResponsesCheck,
  shape: responsesShape,
  counter: {
    path: '/input_tokens',
    without: ['max_output_tokens', 'stream', 'store', 'include', 'metadata', 'temperature', 'top_p'],
  },
})
