import { decodeResponses } from './decode.ts'
import { encodeResponses } from './encode.ts'
import { encodeFault } from './errors.ts'
import { ResponsesAnswer, ResponsesBody, ResponsesError } from './schema.ts'
import { createResponsesWriter } from './stream-writer.ts'
import {
  createInferenceHandler,
  inferenceRefusals,
  maxInferenceBytes,
  FreeTierHeader,
  type InferenceParts,
} from '../inference.ts'
import type { Family } from '../route.ts'
import { createValidator } from '../validate.ts'

/** `/v1/responses`: the OpenAI responses dialect. */
export function responsesFamily(parts: InferenceParts): Family {
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
    ],
  }
}
