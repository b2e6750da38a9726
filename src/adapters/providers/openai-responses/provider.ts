import { readDataList } from '../model-list.ts'
import { isOpenaiHost } from '../openai-chat/servers.ts'
import { bearer, type HttpVendor } from '../vendor.ts'
import { countWithout, type WireFormat } from '../wire-format.ts'
import { createResponsesDecoder } from './events.ts'
import { createResponsesCheck } from './conformance.ts'
import { encodeResponsesRequest } from './request.ts'
import type { ResponsesFlags } from './tools.ts'
import { responsesShape } from './shape.ts'

/** The Responses format. */
const responsesFormat = (flags: ResponsesFlags): WireFormat => ({
  name: 'responses',
  passthroughFor: 'responses',
  encode: (context) => encodeResponsesRequest(context, flags),
  createDecoder: createResponsesDecoder,
  createConformanceCheck: createResponsesCheck,
  shape: responsesShape,
  tokenCounter: countWithout('/input_tokens', [
    'max_output_tokens',
    'stream',
    'store',
    'include',
    'metadata',
    'temperature',
    'top_p',
  ]),
})

/** OpenAI, and servers that imitate its API. */
export const responsesVendor: HttpVendor = {
  systemName: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  path: '/responses',
  embeddingsPath: '/embeddings',
  modelsPath: '/models',
  readModels: readDataList,
  auth: bearer,
  formatAt: (url) => responsesFormat({ searchesWeb: isOpenaiHost(url) }),
}
