import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { Message, OutputFormat, ToolChoice } from '../../../domain/inference/request.ts'
import type {
  ChatMessage,
  ChatRequest,
  ChatResponseFormat,
  ChatTool,
  ChatToolChoice,
} from '../../../wire/openai-chat.ts'
import type { EncodedRequest, EncodeContext } from '../encoding/encoding.ts'
import { optionalLimit, shortUser } from '../encoding/encoding.ts'
import { turnsOf } from '../encoding/history.ts'
import { callersName, reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { rejectsSampling } from '../encoding/model-capabilities.ts'
import type { JsonRecord } from '../json-values.ts'
import { effortOf } from '../encoding/reasoning.ts'
import { systemText } from '../encoding/encoding.ts'
import type { PortableTool } from '../encoding/tools.ts'
import { portableChoice, portableTools } from '../encoding/tools.ts'
import type { ChatEncodeContext } from './content.ts'
import { encodeChatTurn } from './content.ts'
import { encodeStreaming, passChatRequestThrough } from './passthrough.ts'
import { responseFormatFor, toolFieldsFor } from './server-forms.ts'
import type { ChatFlags } from './servers.ts'

/** Encodes a request in the chat completions format. */
export function encodeChatRequest(context: EncodeContext, flags: ChatFlags): EncodedRequest {
  const isSame = context.call.request.raw.dialect === 'chat'
  return isSame ? passChatRequestThrough(context.call, flags) : translate({ ...context, flags })
}

function translate(context: ChatEncodeContext): EncodedRequest {
  const { call, flags } = context
  const { request, onDropped } = call
  reportLossyConversions(request, new Set(), onDropped)
  if (request.metadata !== undefined) onDropped('metadata')
  const body: ChatRequest = {
    model: call.model,
    messages: encodeMessages(context),
    ...optionalLimit(call, flags.maxTokensField),
    ...encodeStreaming(request, flags),
    ...encodeSampling(call, flags),
    ...(request.stop.length > 0 && { stop: request.stop.slice(0, flags.maxStops) }),
    ...encodeEffort(call, flags),
    ...(request.user && { user: shortUser(request.user) }),
  }
  const format = request.outputFormat && responseFormatFor(encodeFormat(request.outputFormat), flags)
  return {
    body: { ...body, ...encodeTools(context), ...(format !== undefined && { response_format: format }) },
    stops: request.stop.slice(flags.maxStops),
  }
}

function encodeTools({ call, flags, toolNames }: ChatEncodeContext): JsonRecord {
  const { request, onDropped } = call
  const tools = portableTools(request, onDropped)
  const choice = portableChoice(request, tools, onDropped)
  if (tools.length === 0) return {}
  const fields: Pick<ChatRequest, 'tools' | 'tool_choice'> = {
    tools: tools.map((tool) => encodeTool(tool, toolNames.toUpstream(tool.name))),
    ...(choice && { tool_choice: encodeChoice(choice, toolNames.toUpstream) }),
  }
  const sent = toolFieldsFor(fields, flags, onDropped)
  const { parallelToolCalls } = request
  if (sent.tools === undefined || parallelToolCalls === undefined) return sent
  return { ...sent, parallel_tool_calls: parallelToolCalls }
}

/** System text at the beginning becomes one message. Later system text is placed where this server accepts it. */
function encodeMessages(context: ChatEncodeContext): ChatMessage[] {
  const { call, flags } = context
  const { messages } = call.request
  const afterSystem = messages.findIndex(({ role }) => role !== 'system')
  const leads = (message: Message, at: number): boolean =>
    message.role === 'system' && (flags.laterSystem === 'hoist' || afterSystem === -1 || at < afterSystem)
  const system = systemText(messages.filter(leads).flatMap(({ parts }) => parts))
  const rest = messages.filter((message, at) => !leads(message, at))
  const turns = turnsOf(rest, call.onDropped).flatMap((turn) => encodeChatTurn(turn, context))
  return system === '' ? turns : [{ role: 'system', content: system }, ...turns]
}

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
