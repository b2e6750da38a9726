import type { Message, ContentPart } from '../../../domain/inference/request.ts'
import type { InputItem, InputPart, OutputPart } from '../../../wire/openai-responses.ts'
import type { EncodeContext } from '../encoding/encoding.ts'
import { dataUrl, knowsFileIds, plainText, unsupportedContent, dropForeignBlock } from '../encoding/encoding.ts'
import type { Turn } from '../encoding/history.ts'
import { asRecord } from '../json-values.ts'
import { safeToolCallId } from '../encoding/tool-names.ts'

/** Encodes one turn as items in order. Consecutive text, images and files are one message. */
export function encodeResponsesTurn({ role, parts }: Turn, context: EncodeContext): InputItem[] {
  const items: InputItem[] = []
  let run: ContentPart[] = []
  const flush = (): void => {
    items.push(...messageOf(role, run, context))
    run = []
  }
  for (const part of parts) {
    const item = itemOf(part, role, context)
    if (item === undefined) {
      run.push(part)
    } else {
      flush()
      items.push(...item)
    }
  }
  flush()
  return items
}

type Named<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>

/** Undefined for a part that belongs into a message. */
function itemOf(part: ContentPart, role: Message['role'], context: EncodeContext): InputItem[] | undefined {
  switch (part.type) {
    case 'thinking':
      return encodeThinking(part, context)
    case 'tool-call': {
      const name = context.toolNames.toUpstream(part.name)
      const input = part.input.trim() === '' ? '{}' : part.input
      return [{ type: 'function_call', call_id: safeToolCallId(part.id), name, arguments: input }]
    }
    case 'tool-result':
      return [{ type: 'function_call_output', call_id: safeToolCallId(part.id), output: encodeOutput(part, context) }]
    case 'opaque': {
      const raw = asRecord(part.raw)
      if (part.dialect === 'responses' && raw !== undefined) return [raw]
      dropForeignBlock(part, role, context)
      return []
    }
    case 'text':
    case 'refusal':
    case 'image':
    case 'file':
      return undefined
  }
}

/** Sends only thinking that this model encrypted. The id is omitted, because the vendor would look it up in its store. */
function encodeThinking({ signature }: Named<'thinking'>, { unwrapSignature }: EncodeContext): InputItem[] {
  const signed = signature && unwrapSignature(signature)
  if (!signed) return []
  const summary = signed.text === '' ? [] : [{ type: 'summary_text' as const, text: signed.text }]
  return [{ type: 'reasoning', summary, encrypted_content: signed.value }]
}

function messageOf(role: Message['role'], parts: readonly ContentPart[], context: EncodeContext): InputItem[] {
  if (role === 'assistant') {
    const content = parts.flatMap(encodeOutputPart)
    return content.length > 0 ? [{ role, content }] : []
  }
  const content = parts.flatMap((part) => encodeInputPart(part, context))
  return content.length > 0 ? [{ role: role === 'system' ? 'developer' : 'user', content }] : []
}

function encodeOutputPart(part: ContentPart): OutputPart[] {
  if (part.type === 'refusal') return [{ type: 'refusal', refusal: part.text }]
  return part.type === 'text' && part.text !== '' ? [{ type: 'output_text', text: part.text, annotations: [] }] : []
}

function encodeInputPart(part: ContentPart, context: EncodeContext): InputPart[] {
  if (part.type === 'text' || part.type === 'refusal')
    return part.text === '' ? [] : [{ type: 'input_text', text: part.text }]
  if (part.type === 'image') return [encodeImage(part, context)]
  return part.type === 'file' ? [encodeFile(part, context)] : []
}

function encodeImage({ source, detail = 'auto' }: Named<'image'>, { call }: EncodeContext): InputPart {
  if (source.kind === 'url') return { type: 'input_image', image_url: source.url, detail }
  if (source.kind === 'base64') return { type: 'input_image', image_url: dataUrl(source), detail }
  if (source.kind === 'file' && knowsFileIds(call.request, true))
    return { type: 'input_image', file_id: source.id, detail }
  throw unsupportedContent(call.request, 'images by file id')
}

function encodeFile({ source, name }: Named<'file'>, { call }: EncodeContext): InputPart {
  const text = plainText(source)
  if (text !== undefined) return { type: 'input_text', text: name === undefined ? text : `${name}\n\n${text}` }
  if (source.kind === 'base64') return { type: 'input_file', filename: name ?? 'file', file_data: dataUrl(source) }
  if (source.kind === 'url') return { type: 'input_file', file_url: source.url }
  if (source.kind === 'file' && knowsFileIds(call.request, true)) return { type: 'input_file', file_id: source.id }
  throw unsupportedContent(call.request, 'files by id')
}

/** Plain text is sent as a string. The format has no error field, so the text states that the tool failed. */
function encodeOutput({ parts, isError }: Named<'tool-result'>, context: EncodeContext): string | readonly InputPart[] {
  for (const part of parts) if (part.type === 'opaque') dropForeignBlock(part, 'user', context)
  const encoded = parts.flatMap((part) => encodeInputPart(part, context))
  const marked: InputPart[] = isError ? [{ type: 'input_text', text: '[tool error] ' }, ...encoded] : encoded
  if (!marked.every((part) => part.type === 'input_text')) return marked
  const texts = encoded.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
  return (isError ? '[tool error] ' : '') + texts.join('\n\n')
}
