import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, OutputFormat, ToolChoice } from '../../../domain/inference/request.ts'
import type { EncodedRequest, EncodeContext } from '../encoding/encoding.ts'
import { optionalLimit, systemText } from '../encoding/encoding.ts'
import { turnsOf, withUserMessage } from '../encoding/history.ts'
import { reportLossyConversions } from '../encoding/lossy-conversions.ts'
import { portableChoice, portableTools, type PortableTool } from '../encoding/tools.ts'
import { encodeTurns } from './content.ts'
import { plainName } from './models.ts'
import { acceptedSchema } from './schema.ts'
import { encodeThinking } from './thinking.ts'
import type { FunctionCallingConfig, GeminiFunction, GeminiRequest, GenerationConfig } from './types.ts'

/** More are rejected. The gateway scans the response for the others. */
const maxStops = 5

/** Encodes a request in the format of Google's Generative Language API. Its URL names the model and whether to stream. */
export function encodeGeminiRequest(context: EncodeContext): EncodedRequest {
  const { call } = context
  const { request, onDropped } = call
  reportLossyConversions(request, new Set(seedOf(request) === undefined ? [] : ['seed']), onDropped)
  reportMissingFields(request, onDropped)
  const generationConfig = encodeConfig(call)
  const body: GeminiRequest = {
    ...encodeConversation(context),
    ...encodeTools(context),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  }
  const method = request.stream ? ':streamGenerateContent?alt=sse' : ':generateContent'
  return {
    body,
    path: `${modelPath(call.model)}${method}`,
    wantsStream: request.stream,
    stops: request.stop.slice(maxStops),
  }
}

/** The path of a model below the list of models. */
export const modelPath = (model: string): string => `/${encodeURIComponent(plainName(model))}`

/** The format has no field for these. */
function reportMissingFields(request: InferenceRequest, onDropped: (field: string) => void): void {
  const { metadata, user, parallelToolCalls, raw } = request
  if (metadata !== undefined || (user !== undefined && raw.dialect === 'messages')) onDropped('metadata')
  if (user !== undefined && raw.dialect !== 'messages') onDropped('user')
  if (parallelToolCalls === false) onDropped('parallel_tool_calls')
}

/** All system text in order becomes the system instruction. */
function encodeConversation(context: EncodeContext): Pick<GeminiRequest, 'contents' | 'systemInstruction'> {
  const messages = withUserMessage(context.call.request.messages)
  const isSystem = ({ role }: { readonly role: string }): boolean => role === 'system'
  const text = systemText(messages.filter(isSystem).flatMap(({ parts }) => parts))
  const turns = turnsOf(
    messages.filter((message) => !isSystem(message)),
    context.call.onDropped,
  )
  return {
    contents: encodeTurns(turns, context),
    ...(text !== '' && { systemInstruction: { parts: [{ text }] } }),
  }
}

function encodeTools({ call, toolNames }: EncodeContext): Pick<GeminiRequest, 'tools' | 'toolConfig'> {
  const { request, onDropped } = call
  const tools = portableTools(request, onDropped)
  const choice = portableChoice(request, tools, onDropped)
  if (tools.length === 0) return {}
  const functionDeclarations = tools.map((tool) => encodeTool(tool, toolNames.toUpstream(tool.name)))
  const functionCallingConfig = choice && encodeChoice(choice, toolNames.toUpstream)
  return { tools: [{ functionDeclarations }], ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }) }
}

/** A function without parameters has no schema: the API rejects an object without properties. */
function encodeTool({ description, parameters }: PortableTool, name: string): GeminiFunction {
  const hasParameters = Object.keys(parameters['properties'] ?? {}).length > 0
  return {
    name,
    ...(description !== undefined && { description }),
    ...(hasParameters && { parametersJsonSchema: acceptedSchema(parameters) }),
  }
}

function encodeChoice(choice: ToolChoice, nameOf: (name: string) => string): FunctionCallingConfig {
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'required':
      return { mode: 'ANY' }
    case 'none':
      return { mode: 'NONE' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [nameOf(choice.name)] }
  }
}

function encodeConfig(call: ProviderCall): GenerationConfig {
  const { request } = call
  const { temperature, topP, topK, stop, outputFormat } = request
  const seed = seedOf(request)
  return {
    ...optionalLimit(call, 'maxOutputTokens'),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(seed !== undefined && { seed }),
    ...(stop.length > 0 && { stopSequences: stop.slice(0, maxStops) }),
    ...encodeFormat(outputFormat),
    ...encodeThinking(call),
  }
}

/** Only chat completions has a seed. The API accepts 32 bits. */
function seedOf({ raw }: InferenceRequest): number | undefined {
  const seed = raw.dialect === 'chat' ? raw.body['seed'] : undefined
  return typeof seed === 'number' && Number.isInteger(seed) && Math.abs(seed) < 2 ** 31 ? seed : undefined
}

function encodeFormat(
  format: OutputFormat | undefined,
): Pick<GenerationConfig, 'responseMimeType' | 'responseJsonSchema'> {
  if (format === undefined) return {}
  const responseMimeType = 'application/json'
  if (format.type === 'json-object') return { responseMimeType }
  return { responseMimeType, responseJsonSchema: acceptedSchema(format.schema) }
}
