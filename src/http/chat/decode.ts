import { Fault } from '../../base/fault.ts'
import type {
  CacheMarker,
  InferenceRequest,
  Message,
  OutputFormat,
  ContentPart,
  Tool,
} from '../../domain/inference/request.ts'
import { breakpointOf, sourceOfFileData, sourceOfUrl, unmarked } from '../inference/reading/openai-content.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { selectTools, type OpenaiChoice } from '../inference/reading/openai-tools.ts'
import { effortByName, parametersOf } from '../inference/reading/request-fields.ts'
import { invalidField } from '../validate.ts'
import type { ChatBody, ChatMessage, ChatPart, ChatTool, ChatToolCall } from './schema.ts'
import { withoutFunctions } from './legacy-functions.ts'
import { vendorFieldRoles } from '../../wire/field-roles.ts'

/** Decodes a validated body of `POST /v1/chat/completions`. */
export function decodeChat(sent: ChatBody): InferenceRequest {
  rejectUnsupported(sent)
  const body = withoutFunctions(sent)
  const { flagged_categories: flagged, ...rawBody } = body
  const effort = effortByName(body.reasoning_effort)
  return {
    model: body.model,
    stream: body.stream ?? false,
    messages: body.messages.map(decodeMessage),
    stop: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? []),
    flaggedCategories: flagged ?? [],
    raw: { dialect: 'chat', body: rawBody, headers: {}, roles: vendorFieldRoles },
    ...selectTools((body.tools ?? []).map(decodeTool), choiceOf(body.tool_choice)),
    ...omitUndefined({
      maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      topK: body.top_k,
      parallelToolCalls: body.parallel_tool_calls,
      reasoning: effort && { effort },
      outputFormat: formatOf(body.response_format),
      user: body.safety_identifier ?? body.user ?? body.metadata?.['user_id'],
      metadata: body.metadata,
    }),
  }
}

/** Rejects fields whose output the gateway could not check or not return. */
function rejectUnsupported(body: ChatBody): void {
  const reject = (param: string, message: string): never => {
    throw new Fault('validation', 'unsupported_parameter', `${param}: ${message}`, { param })
  }
  if ((body.n ?? 1) > 1) reject('n', 'must be 1; only one choice is supported')
  if (body.modalities?.some((modality) => modality !== 'text')) reject('modalities', 'only "text" is supported')
}

function decodeMessage(message: ChatMessage, at: number): Message {
  if (message.role === 'assistant') return { role: 'assistant', parts: decodeAssistant(message, at) }
  if (message.role === 'function') throw new Error('Messages of functions are rewritten before.')
  const parts = decodeContent(message.content, at)
  const mark = breakpointOf(message)
  if (message.role !== 'tool') return { role: message.role === 'user' ? 'user' : 'system', parts: marked(parts, mark) }
  return { role: 'user', parts: [{ type: 'tool-result', id: message.tool_call_id, parts, isError: false, ...mark }] }
}

/** A cache marker of a message applies to its last part. */
const marked = (parts: readonly ContentPart[], mark: { cache?: CacheMarker }): readonly ContentPart[] =>
  mark === unmarked
    ? parts
    : parts.map((part, at) => (part.type === 'text' && at === parts.length - 1 ? { ...part, ...mark } : part))

function decodeAssistant(message: Extract<ChatMessage, { role: 'assistant' }>, at: number): ContentPart[] {
  const parts: ContentPart[] = []
  if (message.reasoning_content) parts.push({ type: 'thinking', text: message.reasoning_content })
  if (message.content) parts.push(...marked(decodeContent(message.content, at), breakpointOf(message)))
  if (message.refusal) parts.push({ type: 'refusal', text: message.refusal })
  for (const call of message.tool_calls ?? []) parts.push(decodeCall(call))
  return parts
}

function decodeCall(call: ChatToolCall): ContentPart {
  if (call.type !== 'function') return { type: 'opaque', dialect: 'chat', raw: call, isToolCall: true }
  return { type: 'tool-call', id: call.id, name: call.function.name, input: call.function.arguments }
}

/** `message` is the position of the message, for errors. */
function decodeContent(content: string | readonly ChatPart[], message: number): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part, at) => decodePart(part, message, at))
}

function decodePart(part: ChatPart, message: number, at: number): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...breakpointOf(part) }
    case 'image_url': {
      const { url, detail } = part.image_url
      return { type: 'image', source: sourceOfUrl(url), ...omitUndefined({ detail }), ...breakpointOf(part) }
    }
    case 'file':
      return decodeFile(part, ['messages', message, 'content', at])
    case 'refusal':
      return { type: 'refusal', text: part.refusal }
    default:
      return { type: 'opaque', dialect: 'chat', raw: part }
  }
}

function decodeFile(part: Extract<ChatPart, { type: 'file' }>, path: readonly (string | number)[]): ContentPart {
  const { file_data: data, file_id: id, filename: name } = part.file
  const rest = { ...omitUndefined({ name }), ...breakpointOf(part) }
  if (data !== undefined) return { type: 'file', source: sourceOfFileData(data), ...rest }
  if (id !== undefined) return { type: 'file', source: { kind: 'file', id }, ...rest }
  throw invalidField([...path, 'file'], 'must have file_data or file_id')
}

function decodeTool(tool: ChatTool | { readonly type: string }): Tool {
  if (!('function' in tool)) return { type: 'opaque', dialect: 'chat', name: nameOf(tool), raw: tool }
  const { name, description, parameters, strict } = tool.function
  const rest = { ...omitUndefined({ description, strict }), ...breakpointOf(tool) }
  return { type: 'function', name, parameters: parametersOf(parameters), ...rest }
}

/** Other tools have their name in a field that is named after their type. */
function nameOf(tool: { readonly type: string }): string {
  const inner: unknown = Reflect.get(tool, tool.type)
  return typeof inner === 'object' && inner !== null && 'name' in inner && typeof inner.name === 'string'
    ? inner.name
    : tool.type
}

function choiceOf(choice: ChatBody['tool_choice']): OpenaiChoice | undefined {
  if (!choice) return undefined
  if (typeof choice === 'string') return { kind: 'mode', mode: choice }
  switch (choice.type) {
    case 'function':
      return { kind: 'named', name: choice.function.name, path: ['tool_choice', 'function', 'name'] }
    case 'custom':
      return { kind: 'named', name: choice.custom.name, path: ['tool_choice', 'custom', 'name'] }
    case 'allowed_tools': {
      const { mode, tools } = choice.allowed_tools
      return { kind: 'allowed', mode, names: tools.flatMap((tool) => tool.function?.name ?? tool.custom?.name ?? []) }
    }
  }
}

function formatOf(format: ChatBody['response_format']): OutputFormat | undefined {
  if (format?.type === 'json_object') return { type: 'json-object' }
  if (format?.type !== 'json_schema') return undefined
  const { name, schema, strict } = format.json_schema
  return { type: 'json-schema', name, schema: schema ?? {}, ...omitUndefined({ strict }) }
}
