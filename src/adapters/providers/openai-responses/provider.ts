import type { WireFormat } from '../wire-format.ts'
import { createResponsesDecoder } from './events.ts'
import { createResponsesCheck } from './conformance.ts'
import { encodeResponsesRequest } from './request.ts'
import type { ResponsesFlags } from './tools.ts'
import { responsesShape } from './shape.ts'

/** The Responses format: OpenAI, and servers that imitate its API. */
export const responsesFormat = (flags: ResponsesFlags): WireFormat => ({
  dialect: 'responses',
  encode: (context) => encodeResponsesRequest(context, flags),
  createDecoder: createResponsesDecoder,
  createConformanceCheck: createResponsesCheck,
  shape: responsesShape,
  tokenCounter: {
    path: '/input_tokens',
    omittedFields: ['max_output_tokens', 'stream', 'store', 'include', 'metadata', 'temperature', 'top_p'],
  },
})
