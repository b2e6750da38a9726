import type { CacheMarker, ContentPart, Source } from '../../domain/inference/request.ts'
import { readSignature } from '../inference/signature-envelope.ts'
import type { MessagesBlock, MessagesToolChange } from './schema.ts'

type Named<Type extends MessagesBlock['type']> = Extract<MessagesBlock, { type: Type }>

/** Decodes one content block. */
export function decodeBlock(block: MessagesBlock): ContentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...cacheOf(block) }
    case 'image':
      return { type: 'image', source: decodeSource(block.source), ...cacheOf(block) }
    case 'document':
      return decodeDocument(block)
    case 'search_result':
      return decodeSearchResult(block)
    case 'tool_reference':
      // The result of a tool search. The tool itself is in the list of tools, so a text is enough.
      return decodeText(`The tool ${block.tool_name} can be called now.`)
    case 'tool_addition':
      return decodeText(`The tool ${nameIn(block)} can be called now.`)
    case 'tool_removal':
      return decodeText(`The tool ${nameIn(block)} can no longer be called.`)
    case 'tool_use':
      return { type: 'tool-call', id: block.id, name: block.name, input: JSON.stringify(block.input) }
    case 'tool_result':
      return decodeToolResult(block)
    case 'thinking': {
      const signature = readSignature(block.signature ?? '', 'messages')
      return { type: 'thinking', text: block.thinking, ...(signature && { signature }) }
    }
    case 'redacted_thinking': {
      const signature = readSignature(block.data, 'messages')
      return { type: 'thinking', text: '', ...(signature && { signature: { ...signature, redacted: true } }) }
    }
    default:
      return opaqueBlock(block)
  }
}

/** Calls of vendor tools are `server_tool_use` and `mcp_tool_use`; their results are blocks of their own. */
function opaqueBlock(block: { readonly type: string }): ContentPart {
  const part = { type: 'opaque', dialect: 'messages', raw: block } as const
  return block.type.endsWith('_tool_use') ? { ...part, isToolCall: true } : part
}

const nameIn = ({ tool: { name, definition } }: MessagesToolChange): string => name ?? definition?.name ?? ''

export const decodeText = (text: string): ContentPart => ({ type: 'text', text })

/** The cache marker of a block or a tool. */
export function cacheOf({ cache_control: mark }: { cache_control?: { ttl?: string } | null }): { cache?: CacheMarker } {
  if (!mark) return {}
  return { cache: mark.ttl === undefined ? {} : { ttl: mark.ttl } }
}

function decodeToolResult(block: Named<'tool_result'>): ContentPart {
  const { content } = block
  const parts = typeof content === 'string' ? [decodeText(content)] : (content ?? []).map(decodeBlock)
  return { type: 'tool-result', id: block.tool_use_id, parts, isError: block.is_error ?? false, ...cacheOf(block) }
}

function decodeDocument(block: Named<'document'>): ContentPart {
  const { source } = block
  // Only this dialect has documents made of blocks. Those with images are kept unchanged.
  const decoded = source.type === 'content' ? textOfContent(source.content) : decodeSource(source)
  if (decoded === undefined) return { type: 'opaque', dialect: 'messages', raw: block }
  return { type: 'file', source: decoded, ...(block.title && { name: block.title }), ...cacheOf(block) }
}

function decodeSearchResult(block: Named<'search_result'>): ContentPart {
  const text = [block.source, ...block.content.map((each) => each.text)].join('\n')
  return { type: 'file', source: { kind: 'text', text }, name: block.title, ...cacheOf(block) }
}

function textOfContent(content: string | readonly object[]): Source | undefined {
  if (typeof content === 'string') return { kind: 'text', text: content }
  const texts = content.map((each) => ('text' in each && typeof each.text === 'string' ? each.text : undefined))
  return texts.includes(undefined) ? undefined : { kind: 'text', text: texts.join('\n') }
}

type PlainSource = Named<'image'>['source'] | Exclude<Named<'document'>['source'], { type: 'content' }>

function decodeSource(source: PlainSource): Source {
  switch (source.type) {
    case 'base64':
      return { kind: 'base64', mediaType: source.media_type, data: source.data }
    case 'url':
      return { kind: 'url', url: source.url }
    case 'file':
      return { kind: 'file', id: source.file_id }
    case 'text':
      return { kind: 'text', text: source.data }
  }
}
