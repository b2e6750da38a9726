import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest } from '../../../domain/inference/request.ts'
import type { ChatRequest } from '../../../wire/openai-chat.ts'
import type { EncodedRequest } from '../encoding/encoding.ts'
import { optionalLimit, passthroughBody } from '../encoding/encoding.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord } from '../json-values.ts'
import { messagesFor, responseFormatFor, toolFieldsFor } from './server-forms.ts'
import type { ChatFlags } from './servers.ts'

/** The body of a chat caller, with the changes that this server needs. All other fields pass unchanged. */
export function passChatRequestThrough(call: ProviderCall, flags: ChatFlags): EncodedRequest {
  const {
    stream_options: streamOptions,
    messages,
    tools,
    tool_choice,
    response_format: format,
    ...rest
  } = passthroughBody(call)
  const { limit, body } = takeTokenLimit(rest, flags)
  const toolFields = { ...(tools !== undefined && { tools }), ...(tool_choice !== undefined && { tool_choice }) }
  return {
    body: {
      ...body,
      ...(messages !== undefined && { messages: messagesFor(messages, flags) }),
      ...toolFieldsFor(toolFields, flags, call.onDropped),
      ...(format !== undefined && { response_format: responseFormatFor(format, flags) }),
      ...optionalLimit(call, limit.field, { requested: limit.value }),
      ...encodeStreaming(call.request, flags, asRecord(streamOptions)),
    },
    stops: [],
  }
}

type TokenLimit = { readonly field: string; readonly value: unknown }

/**
 * The caller's output limit and the body without it. OpenAI gets it under the name that the caller chose. Open-source
 * servers get `max_tokens`, because several of them ignore the newer name, and with it the operator's limit.
 * llama.cpp prefers its own `n_predict` to either.
 */
function takeTokenLimit(body: JsonRecord, { maxTokensField }: ChatFlags): { limit: TokenLimit; body: JsonRecord } {
  if (maxTokensField === 'max_completion_tokens') {
    const named = ['max_completion_tokens', 'max_tokens'].find((field) => typeof body[field] === 'number')
    const field = named ?? maxTokensField
    return { limit: { field, value: body[field] }, body }
  }
  const { max_completion_tokens: newer, max_tokens: older, n_predict: own, ...others } = body
  const value = [newer, older, own].find((limit) => typeof limit === 'number' && limit >= 0)
  return { limit: { field: maxTokensField, value }, body: others }
}

type Streaming = Pick<ChatRequest, 'stream' | 'stream_options'>

/** Chat servers report the usage of a stream only on request. */
export function encodeStreaming(
  { stream }: InferenceRequest,
  { streams }: ChatFlags,
  requested?: JsonRecord,
): Streaming {
  if (!stream) return {}
  return streams ? { stream: true, stream_options: { ...requested, include_usage: true } } : { stream: false }
}
