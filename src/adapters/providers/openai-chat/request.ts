import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, Message, OutputFormat, ToolChoice } from '../../../domain/inference/request.ts'
import type {
  ChatMessage,
  ChatRequest,
  ChatResponseFormat,
  ChatTool,
  ChatToolChoice,
} from '../../../wire/openai-chat.ts'
import type { EncodedRequest, EncodeContext } from '../encoding/encoding.ts'
import { cappedAt, passthroughBody, shortUser } from '../encoding/encoding.ts'
import { turnsOf } from '../encoding/history.ts'
import { callersName, reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { rejectsSampling } from '../encoding/model-capabilities.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord } from '../json-values.ts'
import { effortOf } from '../encoding/reasoning.ts'
import { systemText } from '../encoding/encoding.ts'
import type { PortableTool } from '../encoding/tools.ts'
import { portableChoice, portableTools } from '../encoding/tools.ts'
import type { ChatEncodeContext } from './content.ts'
import { encodeChatTurn } from './content.ts'
import type { ChatFlags } from './flags.ts'

/** Encodes a request in the chat completions format. */
export function encodeChatRequest(context: EncodeContext, flags: ChatFlags): EncodedRequest {
  const isSame = context.call.request.raw.dialect === 'chat'
  return isSame ? passThrough(context.call, flags) : translate({ ...context, flags })
}

function passThrough(call: ProviderCall, flags: ChatFlags): EncodedRequest {
  const { stream_options: streamOptions, ...body } = passthroughBody(call)
  // Keeps the field name that the caller chose, the old or the new one.
  const named = ['max_completion_tokens', 'max_tokens'].find((field) => typeof body[field] === 'number')
  const field = named ?? flags.maxTokensField
  const streaming = encodeStreaming(call.request, flags, asRecord(streamOptions))
  const { messages } = body
  const renamed = Array.isArray(messages) && !flags.knowsDeveloper && { messages: messages.map(withOlderRole) }
  return {
    body: { ...body, ...renamed, [field]: cappedAt(call.maxOutputTokens, body[field]), ...streaming },
    stops: [],
  }
}

/** Most chat templates reject an unknown role. */
function withOlderRole(message: unknown): unknown {
  const known = asRecord(message)
  return known?.['role'] === 'developer' ? { ...known, role: 'system' } : message
}

type Streaming = Pick<ChatRequest, 'stream' | 'stream_options'>

/** Chat servers report the usage of a stream only on request. */
function encodeStreaming({ stream }: InferenceRequest, { streams }: ChatFlags, requested?: JsonRecord): Streaming {
  if (!stream) return {}
  return streams ? { stream: true, stream_options: { ...requested, include_usage: true } } : { stream: false }
}

function translate(context: ChatEncodeContext): EncodedRequest {
  const { call, flags, toolNames } = context
  const { request, onDropped } = call
  reportLossyConversions(request, new Set(), onDropped)
  if (request.metadata !== undefined) onDropped('metadata')
  const tools = portableTools(request, onDropped)
  const choice = portableChoice(request, tools, onDropped)
  const body: ChatRequest = {
    model: call.model,
    messages: encodeMessages(context),
    [flags.maxTokensField]: call.maxOutputTokens,
    ...encodeStreaming(request, flags),
    ...encodeSampling(call, flags),
    ...(request.stop.length > 0 && { stop: request.stop.slice(0, flags.maxStops) }),
    ...(tools.length > 0 && { tools: tools.map((tool) => encodeTool(tool, toolNames.toUpstream(tool.name))) }),
    ...(choice && { tool_choice: encodeChoice(choice, toolNames.toUpstream) }),
    ...(tools.length > 0 &&
      request.parallelToolCalls !== undefined && { parallel_tool_calls: request.parallelToolCalls }),
    ...(request.outputFormat && { response_format: encodeFormat(request.outputFormat) }),
    ...encodeEffort(call, flags),
    ...(request.user && { user: shortUser(request.user) }),
  }
  return { body, stops: request.stop.slice(flags.maxStops) }
}

/** System text at the beginning becomes one message. Later system text is placed where this server accepts it. */
function encodeMessages(context: ChatEncodeContext): ChatMessage[] {
  const { call, flags } = context
  const { messages } = call.request
  const afterSystem = messages.findIndex(({ role }) => role !== 'system')
  const leads = (message: Message, at: number): boolean =>
    message.role === 'system' && (flags.laterSystem === 'hoist' || afterSystem === -1 || at < afterSystem)
  const system = systemText(messages.filter(leads).flatMap(({ parts }) => parts))
  const rest = messages.filter((message, at) => !leads(message, at)).map((message) => relocated(message, flags))
  const turns = turnsOf(rest, call.onDropped).flatMap((turn) => encodeChatTurn(turn, context))
  return system === '' ? turns : [{ role: 'system', content: system }, ...turns]
}

const relocated = (message: Message, { laterSystem }: ChatFlags): Message =>
  message.role === 'system' && laterSystem === 'user' ? { ...message, role: 'user' } : message

type Sampling = Pick<ChatRequest, 'temperature' | 'top_p' | 'top_k'>

function encodeSampling({ request, model, onDropped }: ProviderCall, flags: ChatFlags): Sampling {
  const { temperature, topP, topK } = request
  const isRejected = rejectsSampling(model)
  if (isRejected && temperature !== undefined) onDropped('temperature')
  if (isRejected && topP !== undefined) onDropped('top_p')
  if (!flags.takesTopK && topK !== undefined) onDropped('top_k')
  return {
    ...(!isRejected && temperature !== undefined && { temperature }),
    ...(!isRejected && topP !== undefined && { top_p: topP }),
    ...(flags.takesTopK && topK !== undefined && { top_k: topK }),
  }
}

const encodeTool = ({ description, parameters, strict }: PortableTool, name: string): ChatTool => ({
  type: 'function',
  function: {
    name,
    ...(description !== undefined && { description }),
    parameters,
    ...(strict !== undefined && { strict }),
  },
})

const encodeChoice = (choice: ToolChoice, nameOf: (name: string) => string): ChatToolChoice =>
  choice.type === 'tool' ? { type: 'function', function: { name: nameOf(choice.name) } } : choice.type

function encodeFormat(format: OutputFormat): ChatResponseFormat {
  if (format.type === 'json-object') return { type: 'json_object' }
  const { name, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, schema, ...(strict !== undefined && { strict }) } }
}

/** The nearest effort for servers that do not accept all of them. */
const nearest: Readonly<Record<string, string>> = { minimal: 'low', xhigh: 'high', max: 'high' }

function encodeEffort({ request, onDropped }: ProviderCall, { efforts }: ChatFlags): { reasoning_effort?: string } {
  const requested = request.reasoning && effortOf(request.reasoning)
  if (requested === undefined) return {}
  const effort = [requested, nearest[requested]].find((name) => name !== undefined && efforts.includes(name))
  if (effort !== undefined) return { reasoning_effort: effort }
  onDropped(callersName(request, 'reasoning'))
  return {}
}
