import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, OutputFormat } from '../../../domain/inference/request.ts'
import type { InputItem, ResponsesRequest, TextFormat } from '../../../wire/openai-responses.ts'
import type { EncodedRequest, EncodeContext } from '../encoding/encoding.ts'
import { optionalLimit, passthroughBody, shortUser } from '../encoding/encoding.ts'
import { turnsOf, withUserMessage } from '../encoding/history.ts'
import { reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { cannotReason, rejectsSampling } from '../encoding/model-capabilities.ts'
import type { JsonRecord } from '../json-values.ts'
import { effortOf } from '../encoding/reasoning.ts'
import { systemText } from '../encoding/encoding.ts'
import { encodeResponsesTurn } from './content.ts'
import type { ResponsesFlags } from './tools.ts'
import { encodeTools } from './tools.ts'

/** OpenAI rejects smaller values. Some agents send 1 to test whether a model exists. */
const minOutputTokens = 16

/** Fields with the same name in chat completions that are not part of `InferenceRequest`. */
const shared = ['service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options']

/** Encodes a request in the Responses format. */
export function encodeResponsesRequest(context: EncodeContext, flags: ResponsesFlags): EncodedRequest {
  const { call } = context
  if (call.request.raw.dialect !== 'responses') return translate(context, flags)
  const body = passthroughBody(call)
  return {
    body: { ...body, ...optionalLimit(call, 'max_output_tokens', { requested: body['max_output_tokens'] }) },
    stops: [],
  }
}

function translate(context: EncodeContext, flags: ResponsesFlags): EncodedRequest {
  const { call } = context
  const { request, model, onDropped } = call
  const isChat = request.raw.dialect === 'chat'
  reportLossyConversions(request, new Set(isChat ? [...shared, 'verbosity'] : []), onDropped)
  const body: ResponsesRequest = {
    model,
    ...encodeConversation(context),
    ...optionalLimit(call, 'max_output_tokens', { least: minOutputTokens }),
    stream: request.stream,
    store: false,
    ...(!cannotReason(model) && { include: ['reasoning.encrypted_content'] }),
    ...encodeSampling(call),
    ...encodeTools(context, flags),
    ...encodeReasoning(call),
    ...encodeText(request),
    ...(request.user && { user: shortUser(request.user) }),
    ...(request.metadata && { metadata: request.metadata }),
    ...(isChat && pick(request.raw.body, shared)),
  }
  // The format has no stop strings, so the gateway scans for them.
  return { body, stops: request.stop }
}

const pick = (body: JsonRecord, fields: readonly string[]): JsonRecord =>
  Object.fromEntries(fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]))

/** System text at the beginning becomes the instructions. Later system text stays in place. */
function encodeConversation(context: EncodeContext): { input: InputItem[]; instructions?: string } {
  const messages = withUserMessage(context.call.request.messages)
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const lead = messages.slice(0, begin).flatMap(({ parts }) => parts)
  const instructions = systemText(lead)
  const turns = turnsOf(messages.slice(begin), context.call.onDropped)
  const input = turns.flatMap((turn) => encodeResponsesTurn(turn, context))
  return { input, ...(instructions !== '' && { instructions }) }
}

function encodeSampling({ request, model, onDropped }: ProviderCall): Pick<ResponsesRequest, 'temperature' | 'top_p'> {
  const { temperature, topP, topK } = request
  if (topK !== undefined) onDropped('top_k')
  if (!rejectsSampling(model)) {
    return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) }
  }
  if (temperature !== undefined) onDropped('temperature')
  if (topP !== undefined) onDropped('top_p')
  return {}
}

function encodeReasoning({ request, model }: ProviderCall): Pick<ResponsesRequest, 'reasoning'> {
  const { reasoning } = request
  if (reasoning === undefined || cannotReason(model)) return {}
  const effort = effortOf(reasoning)
  const isVisible = reasoning.visible === true && effort !== 'none'
  return { reasoning: { ...(effort && { effort }), ...(isVisible && { summary: 'auto' }) } }
}

function encodeText({ outputFormat, raw }: InferenceRequest): Pick<ResponsesRequest, 'text'> {
  const verbosity = raw.dialect === 'chat' ? raw.body['verbosity'] : undefined
  if (outputFormat === undefined && verbosity === undefined) return {}
  return {
    text: {
      ...(outputFormat && { format: encodeFormat(outputFormat) }),
      ...(verbosity !== undefined && { verbosity }),
    },
  }
}

function encodeFormat(format: OutputFormat): TextFormat {
  if (format.type === 'json-object') return { type: 'json_object' }
  const { name, schema, strict } = format
  return { type: 'json_schema', name, schema, ...(strict !== undefined && { strict }) }
}
