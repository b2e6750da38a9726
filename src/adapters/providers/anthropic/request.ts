import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, Message, ToolChoice } from '../../../domain/inference/request.ts'
import type {
  MessagesRequest,
  MessagesTool,
  MessagesToolChoice,
  OutputConfig,
  TextBlock,
  MessagesMessage,
  Thinking,
} from '../../../wire/anthropic.ts'
import {
  type EncodedRequest,
  type EncodeContext,
  cappedAt,
  passthroughBody,
  isPromptText,
} from '../encoding/encoding.ts'
import { turnsOf, withUserMessage } from '../encoding/history.ts'
import { callersName, reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { maxOutputOf, rejectsSampling, thinksAdaptively } from '../encoding/model-capabilities.ts'
import { asRecord, asText } from '../json-values.ts'
import { type PortableTool, portableChoice, portableTools } from '../encoding/tools.ts'
import { shortHash } from '../encoding/tool-names.ts'
import { withoutForeignCitations } from './citations.ts'
import { cacheControl, encodeTurns } from './content.ts'
import { strictSchema } from './schema.ts'
import { budgetOf, effortOf, wantsThinking } from '../encoding/reasoning.ts'

/** The last API version that accepts temperature, top_p and top_k. */
const defaultVersion = '2023-06-01'

/** Callers may request a temperature of up to 2. The vendor's maximum is 1. */
const maxTemperature = 1

export type MessagesFlags = {
  /** True for Anthropic's own API. Other servers imitate it. */
  readonly isVendor: boolean
}

/** Encodes a request in the Messages format. */
export function encodeMessagesRequest(context: EncodeContext, flags: MessagesFlags): EncodedRequest {
  const { raw } = context.call.request
  if (raw.dialect !== 'messages') return translate(context)
  const body = withoutForeignCitations(passthroughBody(context.call), context.call.onDropped)
  return {
    body: {
      ...body,
      max_tokens: cappedAt(context.call.outputLimit.tokens, body['max_tokens']),
      ...(typeof body['temperature'] === 'number' && { temperature: Math.min(body['temperature'], maxTemperature) }),
      ...(!flags.isVendor && Array.isArray(body['system']) && { system: body['system'].filter(isPromptBlock) }),
    },
    headers: { 'anthropic-version': defaultVersion, ...raw.headers },
    stops: [],
  }
}

/** False for the billing line in the system text. Only Anthropic reads it; for other servers it defeats the prefix cache. */
const isPromptBlock = (block: unknown): boolean => isPromptText(asText(asRecord(block)?.['text']))

function translate(context: EncodeContext): EncodedRequest {
  const { call, toolNames } = context
  const { request, onDropped } = call
  reportLossyConversions(request, new Set(), onDropped)
  if (request.metadata !== undefined) onDropped('metadata')
  const history = withUserMessage(request.messages)
  const messages = encodeTurns(
    turnsOf(
      history.filter(({ role }) => role !== 'system'),
      onDropped,
    ),
    context,
  )
  const tools = portableTools(request, onDropped)
  const choice = portableChoice(request, tools, onDropped)
  const { thinking, effort } = encodeThinkingMode(call, messages)
  const body: MessagesRequest = {
    model: call.model,
    max_tokens: outputLimitOf(call),
    messages,
    stream: request.stream,
    ...encodeSystem(history, request),
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

/** All system text in order. This format has no JSON mode, so an instruction requests JSON instead. */
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

/** Newer models, and all models while thinking, reject sampling parameters. */
function encodeSampling({ request, model, onDropped }: ProviderCall, isThinking: boolean): Sampling {
  const { temperature, topP, topK } = request
  if (isThinking || rejectsSampling(model)) {
    if (temperature !== undefined) onDropped('temperature')
    if (topP !== undefined) onDropped('top_p')
    if (topK !== undefined) onDropped('top_k')
    return {}
  }
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, maxTemperature) }),
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

/** In this format `disable_parallel_tool_use` is a part of the tool choice, so it needs a choice. */
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

/** The vendor rejects blank stop strings, so the gateway scans for them. */
const isBlank = (stop: string): boolean => stop.trim() === ''

function encodeStops(stops: readonly string[]): { stop_sequences?: readonly string[] } {
  const supported = stops.filter((stop) => !isBlank(stop))
  return supported.length > 0 ? { stop_sequences: supported } : {}
}

/** A limit that the gateway chose must be one that the model accepts. A caller's own limit is left to the vendor. */
const outputLimitOf = ({ request, model, outputLimit: { tokens } }: ProviderCall): number =>
  request.maxOutputTokens === undefined ? Math.min(tokens, maxOutputOf(model)) : tokens

type ThinkingFields = { readonly thinking?: Thinking; readonly effort?: string }

/** The thinking fields for this model. If thinking is not possible, it is reported to `onDropped`. */
function encodeThinkingMode(call: ProviderCall, messages: readonly MessagesMessage[]): ThinkingFields {
  const { request, model } = call
  const { reasoning } = request
  if (!wantsThinking(reasoning)) return {}
  if (isForced(request) || interruptsThinking(messages)) {
    call.onDropped(callersName(request, 'reasoning'))
    return {}
  }
  if (thinksAdaptively(model)) {
    const effort = effortOf(reasoning)
    return { thinking: { type: 'adaptive' }, ...(effort && { effort: effort === 'minimal' ? 'low' : effort }) }
  }
  const isCallers = request.maxOutputTokens !== undefined
  const budget = budgetOf(reasoning, { maxTokens: outputLimitOf(call), isCallers })
  if (budget !== undefined) return { thinking: { type: 'enabled', budget_tokens: budget } }
  call.onDropped(callersName(request, 'reasoning'))
  return {}
}

/** The vendor rejects thinking together with a forced tool call. */
const isForced = ({ toolChoice }: InferenceRequest): boolean =>
  toolChoice?.type === 'required' || toolChoice?.type === 'tool'

/**
 * Within a tool loop the last assistant message must begin with the thinking that led to the call. A caller whose dialect
 * cannot carry signed thinking has lost it, so this turn runs without thinking.
 */
function interruptsThinking(messages: readonly MessagesMessage[]): boolean {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (!last?.content.some((block) => block.type === 'tool_use')) return false
  return !last.content.some((block) => block.type === 'thinking' || block.type === 'redacted_thinking')
}

const outputConfig = (effort: string | undefined, format: OutputConfig['format']): { output_config?: OutputConfig } =>
  effort === undefined && format === undefined
    ? {}
    : { output_config: { ...(effort && { effort }), ...(format && { format }) } }
