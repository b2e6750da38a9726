import type { ContentPart } from '../../../domain/inference/request.ts'
import type { ChatMessage, ChatPart, ChatToolCall } from '../../../wire/openai-chat.ts'
import type { EncodeContext } from '../encoding/encoding.ts'
import { dataUrl, knowsFileIds, plainText, unsupportedContent, dropForeignBlock } from '../encoding/encoding.ts'
import type { Turn } from '../encoding/history.ts'
import { systemText } from '../encoding/encoding.ts'
import { safeToolCallId } from '../encoding/tool-names.ts'
import { isTextPart, joinTexts } from './server-forms.ts'
import type { ChatFlags } from './servers.ts'

export type ChatEncodeContext = EncodeContext & { readonly flags: ChatFlags }

/** Encodes one turn as messages. Each tool result is a message of its own, and results come first. */
export function encodeChatTurn(turn: Turn, context: ChatEncodeContext): ChatMessage[] {
  if (turn.role === 'assistant') return encodeAssistant(turn.parts, context)
  if (turn.role === 'system') return encodeSystem(turn.parts)
  const results = turn.parts.filter((part) => part.type === 'tool-result')
  const others = turn.parts.filter((part) => part.type !== 'tool-result')
  // Tool messages contain only text, so images and files follow in the user message after them.
  const content = [...results.flatMap((result) => result.parts.filter(isMedia)), ...others]
  const parts = content.flatMap((part) => encodeUserPart(part, context))
  return [
    ...results.map((result) => encodeResult(result, context)),
    ...(parts.length > 0 ? [{ role: 'user' as const, content: simplest(parts) }] : []),
  ]
}

function encodeSystem(parts: readonly ContentPart[]): ChatMessage[] {
  const content = systemText(parts)
  return content === '' ? [] : [{ role: 'system', content }]
}

type Named<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>

const isMedia = (part: ContentPart): part is Named<'image' | 'file'> =>
  part.type === 'image' || (part.type === 'file' && plainText(part.source) === undefined)

/** Text is sent as a plain string, because not every server supports content parts. */
const simplest = (parts: readonly ChatPart[]): string | readonly ChatPart[] =>
  parts.every(isTextPart) ? joinTexts(parts) : parts

function encodeUserPart(part: ContentPart, context: ChatEncodeContext): ChatPart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image':
      return [encodeImage(part, context)]
    case 'file':
      return [encodeFile(part, context)]
    case 'opaque':
      dropForeignBlock(part, 'user', context)
      return []
    case 'thinking':
    case 'tool-call':
    case 'tool-result':
      return []
  }
}

function encodeImage({ source, detail }: Named<'image'>, { call }: ChatEncodeContext): ChatPart {
  if (source.kind !== 'url' && source.kind !== 'base64') throw unsupportedContent(call.request, 'images by file id')
  const url = source.kind === 'url' ? source.url : dataUrl(source)
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } }
}

function encodeFile({ source, name }: Named<'file'>, { call, flags }: ChatEncodeContext): ChatPart {
  const text = plainText(source)
  if (text !== undefined) return { type: 'text', text: name === undefined ? text : `${name}\n\n${text}` }
  if (!flags.takesFiles) throw unsupportedContent(call.request, 'files')
  if (source.kind === 'base64') {
    return { type: 'file', file: { filename: name ?? 'file', file_data: dataUrl(source) } }
  }
  if (source.kind === 'file' && knowsFileIds(call.request, true)) return { type: 'file', file: { file_id: source.id } }
  throw unsupportedContent(call.request, 'files by address')
}

function encodeResult({ id, parts, isError }: Named<'tool-result'>, context: ChatEncodeContext): ChatMessage {
  for (const part of parts) if (part.type === 'opaque') dropForeignBlock(part, 'user', context)
  const texts = parts.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'file') return plainText(part.source) ?? '[file: see the next user message]'
    return part.type === 'image' ? '[image: see the next user message]' : ''
  })
  const content = texts.filter((text) => text !== '').join('\n\n')
  return { role: 'tool', tool_call_id: safeToolCallId(id), content: isError ? `[tool error] ${content}` : content }
}

function encodeAssistant(parts: readonly ContentPart[], context: ChatEncodeContext): ChatMessage[] {
  const textOf = (type: 'text' | 'refusal' | 'thinking'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('')
  for (const part of parts) if (part.type === 'opaque') dropForeignBlock(part, 'assistant', context)
  const calls = parts.filter((part) => part.type === 'tool-call').map((part) => encodeCall(part, context))
  const text = textOf('text') + textOf('refusal')
  const { takesReasoning, takesNullContent, reasoningField } = context.flags
  const thinking = takesReasoning ? textOf('thinking') : ''
  if (text === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: text === '' && takesNullContent ? null : text,
      ...(thinking !== '' && { [reasoningField]: thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

const encodeCall = ({ id, name, input }: Named<'tool-call'>, { toolNames }: ChatEncodeContext): ChatToolCall => ({
  id: safeToolCallId(id),
  type: 'function',
  function: { name: toolNames.toUpstream(name), arguments: input.trim() === '' ? '{}' : input },
})
