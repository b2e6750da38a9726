import type { ContentPart } from '../../../domain/inference/request.ts'
import type { ChatMessage, ChatPart, ChatToolCall } from '../../../wire/openai-chat.ts'
import type { EncodeContext } from '../encoding/encoding.ts'
import { dataUrl, knowsFileIds, plainText, unsupportedContent, withoutForeignBlock } from '../encoding/encoding.ts'
import type { Turn } from '../encoding/history.ts'
import { systemText } from '../encoding/system-text.ts'
import { safeToolCallId } from '../encoding/tool-ids.ts'
import type { ChatFlags } from './flags.ts'

export type ChatEncoding = EncodeContext & { readonly flags: ChatFlags }

/** One turn as messages: each tool result is a message of its own, and they come before all else. */
export function encodeChatTurn(turn: Turn, encoding: ChatEncoding): ChatMessage[] {
  if (turn.role === 'assistant') return encodeAssistant(turn.parts, encoding)
  if (turn.role === 'system') return encodeSystem(turn.parts)
  const results = turn.parts.filter((part) => part.type === 'tool-result')
  const said = turn.parts.filter((part) => part.type !== 'tool-result')
  // Tool messages are text alone, so pictures follow in the one user message that comes after all of them.
  const content = [...results.flatMap((result) => result.parts.filter(isMedia)), ...said]
  const parts = content.flatMap((part) => encodeUserPart(part, encoding))
  return [
    ...results.map((result) => encodeResult(result, encoding)),
    ...(parts.length > 0 ? [{ role: 'user' as const, content: shortest(parts) }] : []),
  ]
}

function encodeSystem(parts: readonly ContentPart[]): ChatMessage[] {
  const content = systemText(parts)
  return content === '' ? [] : [{ role: 'system', content }]
}

type Named<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>

const isMedia = (part: ContentPart): part is Named<'image' | 'file'> =>
  part.type === 'image' || (part.type === 'file' && plainText(part.source) === undefined)

/** Plain text stays a plain string: not every server knows parts. */
const shortest = (parts: readonly ChatPart[]): string | readonly ChatPart[] =>
  parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n\n') : parts

function encodeUserPart(part: ContentPart, encoding: ChatEncoding): ChatPart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image':
      return [encodeImage(part, encoding)]
    case 'file':
      return [encodeFile(part, encoding)]
    case 'opaque':
      withoutForeignBlock(part, 'user', encoding)
      return []
    case 'thinking':
    case 'tool-call':
    case 'tool-result':
      return []
  }
}

function encodeImage({ source, detail }: Named<'image'>, { call }: ChatEncoding): ChatPart {
  if (source.kind !== 'url' && source.kind !== 'base64') throw unsupportedContent(call.request, 'images by file id')
  const url = source.kind === 'url' ? source.url : dataUrl(source)
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } }
}

function encodeFile({ source, name }: Named<'file'>, { call, flags }: ChatEncoding): ChatPart {
  const text = plainText(source)
  if (text !== undefined) return { type: 'text', text: name === undefined ? text : `${name}\n\n${text}` }
  if (!flags.takesFiles) throw unsupportedContent(call.request, 'files')
  if (source.kind === 'base64') {
    return { type: 'file', file: { filename: name ?? 'file', file_data: dataUrl(source) } }
  }
  if (source.kind === 'file' && knowsFileIds(call.request, true)) return { type: 'file', file: { file_id: source.id } }
  throw unsupportedContent(call.request, 'files by address')
}

function encodeResult({ id, parts, isError }: Named<'tool-result'>, encoding: ChatEncoding): ChatMessage {
  for (const part of parts) if (part.type === 'opaque') withoutForeignBlock(part, 'user', encoding)
  const texts = parts.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'file') return plainText(part.source) ?? '[file: see the next user message]'
    return part.type === 'image' ? '[image: see the next user message]' : ''
  })
  const content = texts.filter((text) => text !== '').join('\n\n')
  return { role: 'tool', tool_call_id: safeToolCallId(id), content: isError ? `[tool error] ${content}` : content }
}

function encodeAssistant(parts: readonly ContentPart[], encoding: ChatEncoding): ChatMessage[] {
  const textOf = (type: 'text' | 'refusal' | 'thinking'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('')
  for (const part of parts) if (part.type === 'opaque') withoutForeignBlock(part, 'assistant', encoding)
  const calls = parts.filter((part) => part.type === 'tool-call').map((part) => encodeCall(part, encoding))
  const text = textOf('text') + textOf('refusal')
  const thinking = encoding.flags.takesReasoning ? textOf('thinking') : ''
  if (text === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(thinking !== '' && { reasoning_content: thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

const encodeCall = ({ id, name, input }: Named<'tool-call'>, { toolNames }: ChatEncoding): ChatToolCall => ({
  id: safeToolCallId(id),
  type: 'function',
  function: { name: toolNames.toUpstream(name), arguments: input.trim() === '' ? '{}' : input },
})
