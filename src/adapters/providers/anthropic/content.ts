import type { CacheMarker, ContentPart } from '../../../domain/inference/request.ts'
import type { CacheControl, ContentBlock, MessagesMessage } from '../../../wire/anthropic.ts'
import type { EncodeContext } from '../encoding/encoding.ts'
import { knowsFileIds, plainText, unsupportedContent, dropForeignBlock } from '../encoding/encoding.ts'
import type { Turn } from '../encoding/history.ts'
import { asRecord } from '../json-values.ts'
import { safeToolCallId } from '../encoding/tool-names.ts'
import { inputObject } from '../encoding/tools.ts'

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** Encodes turns as messages: tool results first, no empty text, no empty message. */
export function encodeTurns(turns: readonly Turn[], context: EncodeContext): MessagesMessage[] {
  const messages: MessagesMessage[] = []
  for (const [at, turn] of turns.entries()) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const isPrefill = role === 'assistant' && at === turns.length - 1
    const blocks = turn.parts.flatMap((part) => encodePart(part, role, context))
    const content = withoutBlankText(resultsFirst(isPrefill ? withoutTrailingSpace(blocks) : blocks))
    if (content.length > 0) messages.push({ role, content })
  }
  return messages
}

const resultsFirst = (blocks: readonly ContentBlock[]): ContentBlock[] => [
  ...blocks.filter((block) => block.type === 'tool_result'),
  ...blocks.filter((block) => block.type !== 'tool_result'),
]

/** The vendor rejects a message that contains only blank text. */
const withoutBlankText = (blocks: readonly ContentBlock[]): readonly ContentBlock[] =>
  blocks.every(isBlank) ? [] : blocks

const isBlank = (block: ContentBlock): boolean =>
  block.type === 'text' && typeof block.text === 'string' && block.text.trim() === ''

/** The model continues a final assistant message (prefill). The vendor rejects one that ends with white space. */
function withoutTrailingSpace(blocks: readonly ContentBlock[]): ContentBlock[] {
  const last = blocks.at(-1)
  if (last?.type !== 'text' || typeof last.text !== 'string') return [...blocks]
  return [...blocks.slice(0, -1), { ...last, text: last.text.trimEnd() }]
}

function encodePart(part: ContentPart, role: MessagesMessage['role'], context: EncodeContext): ContentBlock[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...cacheControl(part.cache) }]
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image':
      return [{ ...encodeImage(part, context), ...cacheControl(part.cache) }]
    case 'file':
      return [{ ...encodeFile(part, context), ...cacheControl(part.cache) }]
    case 'thinking':
      return encodeThinking(part, context)
    case 'tool-call':
      return [
        {
          type: 'tool_use',
          id: safeToolCallId(part.id),
          name: context.toolNames.toUpstream(part.name),
          input: inputObject(part.input),
        },
      ]
    case 'tool-result':
      return [encodeResult(part, context)]
    case 'opaque':
      return encodeOpaque(part, role, context)
  }
}

type Named<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>

function encodeImage({ source }: Named<'image'>, { call }: EncodeContext): ContentBlock {
  if (source.kind === 'url') return { type: 'image', source: { type: 'url', url: source.url } }
  if (source.kind === 'base64' && imageTypes.has(source.mediaType)) {
    return { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.data } }
  }
  if (source.kind === 'file' && knowsFileIds(call.request, false)) {
    return { type: 'image', source: { type: 'file', file_id: source.id } }
  }
  const content = source.kind === 'base64' ? `images of type ${source.mediaType}` : 'images by file id'
  throw unsupportedContent(call.request, content)
}

function encodeFile({ source, name }: Named<'file'>, { call }: EncodeContext): ContentBlock {
  const title = name === undefined ? {} : { title: name }
  const data = plainText(source)
  if (data !== undefined)
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title }
  if (source.kind === 'url') return { type: 'document', source: { type: 'url', url: source.url }, ...title }
  if (source.kind === 'base64' && source.mediaType === 'application/pdf') {
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: source.data }, ...title }
  }
  if (source.kind === 'file' && knowsFileIds(call.request, false)) {
    return { type: 'document', source: { type: 'file', file_id: source.id }, ...title }
  }
  throw unsupportedContent(call.request, source.kind === 'base64' ? `files of type ${source.mediaType}` : 'files by id')
}

/** Sends only thinking that this model signed, because it rejects all other. */
function encodeThinking({ signature }: Named<'thinking'>, { unwrapSignature }: EncodeContext): ContentBlock[] {
  const signed = signature && unwrapSignature(signature)
  if (!signed) return []
  if (signature.redacted === true) return [{ type: 'redacted_thinking', data: signed.value }]
  return [{ type: 'thinking', thinking: signed.text, signature: signed.value }]
}

function encodeResult({ id, parts, isError, cache }: Named<'tool-result'>, context: EncodeContext): ContentBlock {
  const content = parts.flatMap((part) => encodePart(part, 'user', context))
  return {
    type: 'tool_result',
    tool_use_id: safeToolCallId(id),
    ...(content.length > 0 && { content }),
    ...(isError && { is_error: true }),
    ...cacheControl(cache),
  }
}

function encodeOpaque(part: Named<'opaque'>, role: MessagesMessage['role'], context: EncodeContext): ContentBlock[] {
  const raw = asRecord(part.raw)
  if (part.dialect === 'messages' && raw !== undefined) return [raw]
  dropForeignBlock(part, role, context)
  return []
}

/** OpenAI's longer lifetimes become Anthropic's longest one. */
export function cacheControl(cache: CacheMarker | undefined): { readonly cache_control?: CacheControl } {
  if (cache === undefined) return {}
  if (cache.ttl === undefined || cache.ttl === '5m') return { cache_control: { type: 'ephemeral' } }
  return { cache_control: { type: 'ephemeral', ttl: '1h' } }
}
