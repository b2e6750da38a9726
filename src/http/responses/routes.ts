import { decodeResponses } from './decode.ts'
import { encodeResponses } from './encode.ts'
import { encodeFault } from './errors.ts'
import { InputTokensAnswer, ResponsesAnswer, ResponsesBody, ResponsesError } from './schema.ts'
import { createResponsesWriter } from './stream-writer.ts'
import {
  createInferenceHandler,
  inferenceRefusals,
  maxInferenceBytes,
  FreeTierHeader,
  type InferenceParts,
} from '../inference.ts'
import { createCountHandler, type CountParts } from '../count.ts'
import type { Family } from '../route.ts'
import { createValidator } from '../validate.ts'

/** `/v1/responses`: the OpenAI responses dialect. */
export function responsesFamily(parts: InferenceParts & CountParts): Family {
  const validate = createValidator(ResponsesBody)
  return {
    name: 'Responses',
    prefixes: ['/v1/responses'],
    refuse: encodeFault,
    refusalSchema: ResponsesError,
    routes: [
      {
        method: 'POST',
        path: '/v1/responses',
        summary: 'Create a response',
        credential: 'api_key_or_free',
        bodyLimitBytes: maxInferenceBytes,
        headers: FreeTierHeader,
        body: ResponsesBody,
        answers: { 200: { description: 'The response, or with `stream` its events.', schema: ResponsesAnswer } },
        refusals: inferenceRefusals,
        handle: createInferenceHandler(parts, {
          decode: (body) => decodeResponses(validate(body)),
          newAnswerId: (ids) => ids('resp'),
          createWriter: createResponsesWriter,
          encode: encodeResponses,
        }),
      },
      {
        method: 'POST',
        path: '/v1/responses/input_tokens',
        summary: 'Count the input tokens of a response',
        credential: 'api_key',
        bodyLimitBytes: maxInferenceBytes,
        body: ResponsesBody,
        answers: {
          200: { description: 'The count; `x-gateway-token-source` says who counted.', schema: InputTokensAnswer },
        },
        refusals: [400, 401, 403, 404, 413, 429, 500, 503],
        handle: createCountHandler(parts, {
          decode: (body) => decodeResponses(validate(body)),
          present: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
        }),
      },
    ],
  }
}
