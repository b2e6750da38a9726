import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, OutputFormat } from '../../../domain/inference/request.ts'
import type { InputItem, ResponsesRequest, TextFormat } from '../../../wire/openai-responses.ts'
import type { EncodedRequest, EncodeContext } from '../encoding/encoding.ts'
import { boundedBy, sameDialectBody, shortUser } from '../encoding/encoding.ts'
import { turnsOf, withUser } from '../encoding/history.ts'
import { reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { cannotReason, refusesSampling } from '../encoding/models.ts'
import type { JsonRecord } from '../json-values.ts'
import { effortOf } from '../encoding/reasoning.ts'
import { systemText } from '../encoding/system-text.ts'
import { encodeResponsesTurn } from './content.ts'
import type { ResponsesFlags } from './tools.ts'
import { encodeTools } from './tools.ts'

/** The least that OpenAI takes; agents ask for 1 to see whether a model is there. */
const leastOutputTokens = 16

/** Fields that chat completions and this format share under the same name, outside of our own language. */
const shared = ['service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options']

/** Our request in the words of the Responses format. */
export function encodeResponsesRequest(encoding: EncodeContext, flags: ResponsesFlags): EncodedRequest {
  const { call } = encoding
  if (call.request.original.dialect !== 'responses') return translate(encoding, flags)
  const body = sameDialectBody(call)
  return {
    body: { ...body, max_output_tokens: boundedBy(call.maxOutputTokens, body['max_output_tokens']) },
    stops: [],
  }
}

function translate(encoding: EncodeContext, flags: ResponsesFlags): EncodedRequest {
  const { call } = encoding
  const { request, model, onDropped } = call
  const isChat = request.original.dialect === 'chat'
  reportLossyConversions(request, new Set(isChat ? [...shared, 'verbosity'] : []), onDropped)
  const body: ResponsesRequest = {
    model,
    ...encodeConversation(encoding),
    max_output_tokens: Math.max(call.maxOutputTokens, leastOutputTokens),
    stream: request.stream,
    store: false,
    ...(!cannotReason(model) && { include: ['reasoning.encrypted_content'] }),
    ...encodeSampling(call),
    ...encodeTools(encoding, flags),
    ...encodeReasoning(call),
    ...encodeText(request),
    ...(request.user && { user: shortUser(request.user) }),
    ...(request.metadata && { metadata: request.metadata }),
    ...(isChat && pick(request.original.body, shared)),
  }
  // There are no stop strings in this format.
  return { body, stops: request.stop }
}

const pick = (body: JsonRecord, fields: readonly string[]): JsonRecord =>
  Object.fromEntries(fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]))

/** System text at the beginning is the instructions; what comes later stands where it was said. */
function encodeConversation(encoding: EncodeContext): { input: InputItem[]; instructions?: string } {
  const messages = withUser(encoding.call.request.messages)
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const lead = messages.slice(0, begin).flatMap(({ parts }) => parts)
  const instructions = systemText(lead)
  const turns = turnsOf(messages.slice(begin), encoding.call.onDropped)
  const input = turns.flatMap((turn) => encodeResponsesTurn(turn, encoding))
  return { input, ...(instructions !== '' && { instructions }) }
}

function encodeSampling({ request, model, onDropped }: ProviderCall): Pick<ResponsesRequest, 'temperature' | 'top_p'> {
  const { temperature, topP, topK } = request
  if (topK !== undefined) onDropped('top_k')
  if (!refusesSampling(model)) {
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

function encodeText({ outputFormat, original }: InferenceRequest): Pick<ResponsesRequest, 'text'> {
  const verbosity = original.dialect === 'chat' ? original.body['verbosity'] : undefined
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
