import Type from 'typebox'
import { text } from '../described.ts'
import { Fault } from '../../base/fault.ts'
import { requirePermission } from '../../domain/identity/permissions.ts'
import type { Caller, Principal } from '../../domain/identity/principal.ts'
import { decodeResponses } from './decode.ts'
import { encodeResponses } from './encode.ts'
import { encodeResponsesFault } from './errors.ts'
import { namesStored, receivedItems, withHistory } from './history.ts'
import { storingResponse, type StoreResponseParts } from './store-response.ts'
import { InputTokensAnswer, ResponsesAnswer, ResponsesError, ResponsesEvent } from './answer-schema.ts'
import { ResponsesBody } from './schema.ts'
import { createResponsesWriter } from './stream-writer.ts'
import { InputItemList, InputItemsQuery, inputItemPage } from './input-items.ts'
import {
  createInferenceHandler,
  inferenceErrorStatuses,
  maxInferenceBytes,
  InferenceHeaders,
} from '../inference/endpoint.ts'
import { createRejectedBodyCounter } from '../inference/count-rejected-body.ts'
import type { DecodedRequest, DialectCodec, InferenceParts } from '../inference/codec.ts'
import { chatOperation } from '../../pipeline/operations/chat.ts'
import { countDescription, createCountHandler, type CountEndpointParts } from '../inference/count.ts'
import type { EndpointFamily, Route } from '../route.ts'
import { createQueryValidator, createValidator } from '../validate.ts'

const errorStatuses = [400, 401, 404, 429, 500, 503]

export type ResponsesParts = InferenceParts & CountEndpointParts & StoreResponseParts

export function createResponsesCodec(parts: StoreResponseParts): DialectCodec {
  const validate = createValidator(ResponsesBody)
  return {
    operation: chatOperation,
    path: '/v1/responses',
    decode: ({ body, caller }) => decodeWithHistory(validate(body), caller, parts),
    newAnswerId: (ids) => ids('resp'),
    createWriter: createResponsesWriter,
    encode: encodeResponses,
  }
}

/** `/v1/responses`: the OpenAI responses dialect. */
export function responsesFamily(parts: ResponsesParts): EndpointFamily {
  const onRejectedBody = createRejectedBodyCounter(parts)
  const validate = createValidator(ResponsesBody)
  return {
    name: 'Responses',
    description: 'Inference in the format of OpenAI’s Responses API, with stored responses.',
    prefixes: ['/v1/responses'],
    encodeError: encodeResponsesFault,
    errorSchema: ResponsesError,
    routes: [
      {
        name: 'createResponse',
        method: 'POST',
        path: '/v1/responses',
        summary: 'Create a response',
        credential: 'api_key_or_free',
        sdk: { vendor: 'openai', method: 'responses.create' },
        bodyLimitBytes: maxInferenceBytes,
        headers: InferenceHeaders,
        body: ResponsesBody,
        answers: {
          200: {
            description: 'The response, or with `stream` its events.',
            schema: ResponsesAnswer,
            event: ResponsesEvent,
            headers: ['x-gatehouse-dropped', 'x-gatehouse-hold-back', 'x-gatehouse-switched-model'],
          },
        },
        errorStatuses: inferenceErrorStatuses,
        onRejectedBody,
        handle: createInferenceHandler(parts, createResponsesCodec(parts)),
      },
      {
        name: 'countResponseInputTokens',
        method: 'POST',
        path: '/v1/responses/input_tokens',
        summary: 'Count the input tokens of a response',
        credential: 'api_key',
        sdk: { vendor: 'openai', method: 'responses.inputTokens.count' },
        bodyLimitBytes: maxInferenceBytes,
        body: ResponsesBody,
        answers: {
          200: { description: countDescription, schema: InputTokensAnswer, headers: ['x-gatehouse-token-source'] },
        },
        errorStatuses: [400, 401, 403, 404, 408, 413, 429, 500, 503],
        onRejectedBody,
        handle: createCountHandler(parts, {
          async decode({ body, principal }) {
            return decodeResponses((await withHistory(validate(body), principal.projectId, parts)).body)
          },
          present: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
        }),
      },
      {
        name: 'getResponse',
        method: 'GET',
        path: '/v1/responses/{response_id}',
        summary: 'Read a stored response',
        credential: 'api_key',
        sdk: { vendor: 'openai', method: 'responses.retrieve' },
        params: ResponseId,
        query: ReadQuery,
        answers: { 200: { description: 'The response as it was sent.', schema: ResponsesAnswer } },
        errorStatuses,
        async handle(request) {
          const { projectId } = await parts.callerOf.principal(request)
          const { response_id: id } = readId(request.params)
          if (readQuery(request.query).stream) throw notStreamed()
          const response = await parts.stored.find(projectId, id, parts.clock.nowMs())
          if (!response) throw notFound(id)
          return response.document
        },
      },
      inputItemsRoute(parts),
      {
        name: 'deleteResponse',
        method: 'DELETE',
        path: '/v1/responses/{response_id}',
        summary: 'Delete a stored response',
        credential: 'api_key',
        sdk: { vendor: 'openai', method: 'responses.delete' },
        params: ResponseId,
        answers: { 200: { description: 'The response was deleted.', schema: DeletedResponse } },
        errorStatuses,
        async handle(request) {
          const { projectId } = await parts.callerOf.principal(request)
          const { response_id: id } = readId(request.params)
          if (!(await parts.stored.remove(projectId, id))) throw notFound(id)
          return { id, object: 'response', deleted: true }
        },
      },
    ],
  }
}

const exampleId = 'resp_01h455vb4pex5vsknk084sn02q'
const ResponseId = Type.Object({
  response_id: Type.String({ minLength: 1, maxLength: 200, description: 'The response.', examples: [exampleId] }),
})
/** Clients send further parameters. Only one that would change the response is checked. */
const ReadQuery = Type.Object({
  stream: Type.Optional(Type.Boolean({ description: 'Must be false: a stored response cannot be streamed.' })),
})
const readQuery = createQueryValidator(ReadQuery)
const DeletedResponse = Type.Object(
  {
    id: text('The response that was deleted.'),
    object: Type.Literal('response'),
    deleted: Type.Literal(true),
  },
  { title: 'ResponseDeleted', examples: [{ id: exampleId, object: 'response', deleted: true }] },
)

const readId = createValidator(ResponseId)
const readItemsQuery = createQueryValidator(InputItemsQuery)

const inputItemsRoute = (parts: ResponsesParts): Route => ({
  name: 'listResponseInputItems',
  method: 'GET',
  path: '/v1/responses/{response_id}/input_items',
  summary: 'List the input items of a stored response',
  credential: 'api_key',
  sdk: { vendor: 'openai', method: 'responses.inputItems.list' },
  params: ResponseId,
  query: InputItemsQuery,
  answers: {
    200: { description: 'The items that the model received, previous turns included.', schema: InputItemList },
  },
  errorStatuses,
  async handle(request) {
    const { projectId } = await parts.callerOf.principal(request)
    const { response_id: id } = readId(request.params)
    const query = readItemsQuery(request.query)
    const response = await parts.stored.find(projectId, id, parts.clock.nowMs())
    if (!response) throw notFound(id)
    return inputItemPage(await receivedItems(response, projectId, parts), query)
  },
})

const notFound = (id: string): Fault =>
  new Fault('not_found', 'not_found', `Response with id '${id}' not found.`, { param: 'response_id' })

const notStreamed = (): Fault =>
  new Fault('validation', 'unsupported_parameter', 'stream: is not supported for a stored response', {
    param: 'stream',
  })

/** A project reads its own responses. An administrator in the playground could ask the model to repeat those of others. */
function requireStoredTexts({ kind, permissions }: Principal): void {
  if (kind !== 'api_key' && kind !== 'jwt') requirePermission(permissions, 'content:read')
}

/** The anonymous free request belongs to no project, so it has no history and its response is not stored. */
async function decodeWithHistory(
  body: ResponsesBody,
  caller: Caller,
  parts: StoreResponseParts,
): Promise<DecodedRequest> {
  if (caller.kind === 'free') return { request: decodeResponses(body) }
  if (namesStored(body)) requireStoredTexts(caller)
  const { body: whole, ownItems, previousId } = await withHistory(body, caller.projectId, parts)
  const request = decodeResponses(whole)
  if (body.store === false) return { request, echo: { store: false, previous_response_id: previousId } }
  const echo = { store: true, previous_response_id: previousId }
  const known = { organizationId: caller.organization.id, projectId: caller.projectId, previousId, input: ownItems }
  return {
    request,
    echo,
    observe: (chunks, newContext) => storingResponse(chunks, known, { context: newContext(), parts }),
  }
}
