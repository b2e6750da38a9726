import { Fault, type Problem } from '../../base/fault.ts'
import type { Message, ContentPart, ReasoningSignature } from '../../domain/inference/request.ts'
import { qualifiedToolName } from '../../domain/inference/request.ts'
import { breakpointOf, sourceOfFileData, sourceOfUrl } from '../inference/reading/openai-content.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { readSignature } from '../inference/signature-envelope.ts'
import { fieldName, invalidField } from '../validate.ts'
import type { ResponsesItem, ResponsesPart } from './schema.ts'

type Path = Problem['path']
type Named<Type extends string> = Extract<ResponsesItem, { type: Type }>

/** Decodes one input item as a message. Providers merge consecutive messages of one role. */
export function decodeItem(item: ResponsesItem, path: Path): Message {
  switch (item.type) {
    case undefined:
    case 'message': {
      if (item.role === undefined) throw notFound(item.id, path)
      const role = item.role === 'developer' ? 'system' : item.role
      return { role, parts: decodeContent(item.content, [...path, 'content']) }
    }
    case 'function_call': {
      const { call_id: id, namespace, name, arguments: input } = item
      return { role: 'assistant', parts: [{ type: 'tool-call', id, name: qualifiedToolName(namespace, name), input }] }
    }
    case 'function_call_output': {
      const parts = decodeContent(item.output, [...path, 'output'])
      return { role: 'user', parts: [{ type: 'tool-result', id: item.call_id, parts, isError: false }] }
    }
    case 'reasoning':
      return { role: 'assistant', parts: [decodeReasoningItem(item)] }
    case 'additional_tools':
      // These tools are in the list of tools (`toolsIn`), where upstreams of other dialects get them.
      return { role: 'system', parts: [] }
    case 'item_reference':
      throw notFound(item.id, path)
    default:
      return opaqueItem(item)
  }
}

/** The vendor's message for an unknown reference, because clients show it to users. */
function notFound(id: string, path: Path): Fault {
  const message = `Item with id '${id.slice(0, 100)}' not found. Items are not stored when store is set to false.`
  return new Fault('validation', 'invalid_parameter', message, { param: fieldName([...path, 'id']) })
}

/** Calls of vendor tools have the role of the assistant, their results that of the user. */
function opaqueItem(item: { readonly type: string }): Message {
  const isToolResult = /_(output|response)$/.test(item.type)
  const part = { type: 'opaque', dialect: 'responses', raw: item } as const
  if (isToolResult) return { role: 'user', parts: [{ ...part, isToolResult }] }
  return { role: 'assistant', parts: [toolCalls.has(item.type) ? { ...part, isToolCall: true } : part] }
}

/** Items that hold a call and never its result. Other calls of vendor tools, such as `mcp_call`, hold both. */
const toolCalls: ReadonlySet<string> = new Set([
  'apply_patch_call',
  'computer_call',
  'custom_tool_call',
  'image_generation_call',
  'local_shell_call',
  'mcp_approval_request',
  'shell_call',
  'tool_search_call',
])

function decodeReasoningItem(item: Named<'reasoning'>): ContentPart {
  const texts = item.summary?.length ? item.summary : (item.content ?? [])
  const signature = signatureOf(item)
  return { type: 'thinking', text: texts.map((each) => each.text).join('\n\n'), ...(signature && { signature }) }
}

/** The reasoning signature of an item, with the id of the item if an upstream of this format made it. */
export function signatureOf({ id, encrypted_content: encrypted }: Named<'reasoning'>): ReasoningSignature | undefined {
  const signature = readSignature(encrypted ?? '', 'responses')
  return signature && id && signature.format === 'responses' ? { id, ...signature } : signature
}

function decodeContent(content: string | readonly ResponsesPart[], path: Path): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part, at) => decodePart(part, [...path, at]))
}

function decodePart(part: ResponsesPart, path: Path): ContentPart {
  switch (part.type) {
    case 'input_text':
      return { type: 'text', text: part.text, ...breakpointOf(part) }
    case 'output_text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'refusal', text: part.refusal }
    case 'input_image':
      return decodeImage(part, path)
    case 'input_file':
      return decodeFile(part, path)
    default:
      return { type: 'opaque', dialect: 'responses', raw: part }
  }
}

function decodeImage(part: Extract<ResponsesPart, { type: 'input_image' }>, path: Path): ContentPart {
  const { image_url: url, file_id: id, detail } = part
  const rest = { ...omitUndefined({ detail }), ...breakpointOf(part) }
  if (url) return { type: 'image', source: sourceOfUrl(url), ...rest }
  if (id) return { type: 'image', source: { kind: 'file', id }, ...rest }
  throw invalidField(path, 'must have image_url or file_id')
}

function decodeFile(part: Extract<ResponsesPart, { type: 'input_file' }>, path: Path): ContentPart {
  const { file_data: data, file_url: url, file_id: id, filename: name } = part
  const rest = { ...omitUndefined({ name }), ...breakpointOf(part) }
  if (data) return { type: 'file', source: sourceOfFileData(data), ...rest }
  if (url) return { type: 'file', source: { kind: 'url', url }, ...rest }
  if (id) return { type: 'file', source: { kind: 'file', id }, ...rest }
  throw invalidField(path, 'must have file_data, file_url or file_id')
}
