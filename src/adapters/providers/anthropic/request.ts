import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, Message, ToolChoice } from '../../../domain/inference/request.ts'
import type {
  MessagesRequest,
  MessagesTool,
  MessagesToolChoice,
  OutputConfig,
  TextBlock,
} from '../../../wire/anthropic.ts'
import type { EncodedRequest, EncodeContext } from '../encoding/encoding.ts'
import { boundedBy, sameDialectBody } from '../encoding/encoding.ts'
import { turnsOf, withUser } from '../encoding/history.ts'
import { callersName, reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { refusesSampling } from '../encoding/models.ts'
import { asRecord, asText } from '../json-values.ts'
import { isMeant } from '../encoding/system-text.ts'
import type { PortableTool } from '../encoding/tools.ts'
import { portableChoice, portableTools } from '../encoding/tools.ts'
import { shortHash } from '../encoding/tool-ids.ts'
import { cacheControl, encodeTurns } from './content.ts'
import { strictSchema } from './schema.ts'
import { encodeThinkingMode, outputConfig } from './thinking.ts'

/** The last version that still knows temperature, top_p and top_k. */
const defaultVersion = '2023-06-01'

/** Our callers may ask for a temperature of up to 2; here it ends at 1. */
const hottest = 1

export type MessagesFlags = {
  /** Anthropic itself, or a proxy before it; other servers imitate it. */
  readonly isVendor: boolean
}

/** Our request in the words of the Messages format. */
export function encodeMessagesRequest(encoding: EncodeContext, flags: MessagesFlags): EncodedRequest {
  const { original } = encoding.call.request
  if (original.dialect !== 'messages') return translate(encoding)
  const body = sameDialectBody(encoding.call)
  return {
    body: {
      ...body,
      max_tokens: boundedBy(encoding.call.maxOutputTokens, body['max_tokens']),
      ...(typeof body['temperature'] === 'number' && { temperature: Math.min(body['temperature'], hottest) }),
      ...(!flags.isVendor && Array.isArray(body['system']) && { system: body['system'].filter(isMeantBlock) }),
    },
    headers: { 'anthropic-version': defaultVersion, ...original.headers },
    stops: [],
  }
}

/** The vendor reads its billing line in the system text; for others it only spoils the prefix cache. */
const isMeantBlock = (block: unknown): boolean => isMeant(asText(asRecord(block)?.['text']))

function translate(encoding: EncodeContext): EncodedRequest {
  const { call, toolNames } = encoding
  const { request, onDropped } = call
  reportLossyConversions(request, new Set(), onDropped)
  if (request.metadata !== undefined) onDropped('metadata')
  const said = withUser(request.messages)
  const messages = encodeTurns(
    turnsOf(
      said.filter(({ role }) => role !== 'system'),
      onDropped,
    ),
    encoding,
  )
  const tools = portableTools(request, onDropped)
  const choice = portableChoice(request, tools, onDropped)
  const { thinking, effort } = encodeThinkingMode(call, messages)
  const body: MessagesRequest = {
    model: call.model,
    max_tokens: call.maxOutputTokens,
    messages,
    stream: request.stream,
    ...encodeSystem(said, request),
    ...encodeSampling(call, thinking !== undefined),
    ...(tools.length > 0 && { tools: tools.map((tool) => encodeTool(tool, toolNames.toUpstream(tool.name))) }),
    ...encodeChoice(choice, tools.length > 0 && request.parallelToolCalls === false, toolNames.toUpstream),
    ...(thinking && { thinking }),
    ...outputConfig(effort, encodeFormat(call)),
    ...(request.user && { metadata: { user_id: request.user.length <= 256 ? request.user : shortHash(request.user) } }),
    ...encodeStops(request.stop),
  }
  return { body, headers: { 'anthropic-version': defaultVersion }, stops: request.stop.filter(isBlank) }
}

/** All system text of the list, in order; the JSON mode that this format lacks is asked for in words. */
function encodeSystem(
  messages: readonly Message[],
  { outputFormat }: InferenceRequest,
): { system?: readonly TextBlock[] } {
  const parts = messages.filter(({ role }) => role === 'system').flatMap((message) => message.parts)
  const system: TextBlock[] = parts.flatMap((part) =>
    part.type === 'text' && part.text !== '' ? [{ type: 'text', text: part.text, ...cacheControl(part.cache) }] : [],
  )
  if (outputFormat?.type === 'json-object')
    system.push({ type: 'text', text: 'Answer with one JSON object and nothing else.' })
  return system.length > 0 ? { system } : {}
}

type Sampling = Pick<MessagesRequest, 'temperature' | 'top_p' | 'top_k'>

/** Newer models, and all models while they think, refuse to be tuned. */
function encodeSampling({ request, model, onDropped }: ProviderCall, isThinking: boolean): Sampling {
  const { temperature, topP, topK } = request
  if (isThinking || refusesSampling(model)) {
    if (temperature !== undefined) onDropped('temperature')
    if (topP !== undefined) onDropped('top_p')
    if (topK !== undefined) onDropped('top_k')
    return {}
  }
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, hottest) }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
  }
}

const encodeTool = ({ description, parameters, strict, cache }: PortableTool, name: string): MessagesTool => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: strict === true ? strictSchema(parameters) : parameters,
  ...(strict === true && { strict }),
  ...cacheControl(cache),
})

/** One tool at a time is a part of the choice here, so there must be one. */
function encodeChoice(
  choice: ToolChoice | undefined,
  isSerial: boolean,
  nameOf: (name: string) => string,
): { tool_choice?: MessagesToolChoice } {
  const serial = isSerial ? { disable_parallel_tool_use: true } : {}
  switch (choice?.type) {
    case 'none':
      return { tool_choice: { type: 'none' } }
    case 'required':
      return { tool_choice: { type: 'any', ...serial } }
    case 'tool':
      return { tool_choice: { type: 'tool', name: nameOf(choice.name), ...serial } }
    case 'auto':
      return { tool_choice: { type: 'auto', ...serial } }
    case undefined:
      return isSerial ? { tool_choice: { type: 'auto', ...serial } } : {}
  }
}

function encodeFormat({ request, onDropped }: ProviderCall): OutputConfig['format'] {
  const { outputFormat } = request
  if (outputFormat?.type === 'json-object') onDropped(callersName(request, 'outputFormat'))
  if (outputFormat?.type !== 'json-schema') return undefined
  return { type: 'json_schema', schema: strictSchema(asRecord(outputFormat.schema) ?? {}) }
}

/** Blank stop strings are refused, so we look for them ourselves. */
const isBlank = (stop: string): boolean => stop.trim() === ''

function encodeStops(stops: readonly string[]): { stop_sequences?: readonly string[] } {
  const told = stops.filter((stop) => !isBlank(stop))
  return told.length > 0 ? { stop_sequences: told } : {}
}
