import type { ContentPart } from '../../../domain/inference/request.ts'
import type { EncodeContext } from '../encoding/encoding.ts'
import { dropForeignBlock, plainText, unsupportedContent } from '../encoding/encoding.ts'
import type { Turn } from '../encoding/history.ts'
import { safeToolCallId } from '../encoding/tool-names.ts'
import { inputObject } from '../encoding/tools.ts'
import { isSinceThree } from './models.ts'
import type { GeminiContent, GeminiPart } from './types.ts'

type Named<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>

/** Encodes turns as contents: tool results first, no empty text, no empty content. */
export function encodeTurns(turns: readonly Turn[], context: EncodeContext): GeminiContent[] {
  const names = toolNamesIn(turns, context)
  return turns.flatMap(({ role, parts }) => {
    const isModel = role === 'assistant'
    const encoded = isModel ? encodeModelParts(parts, context) : encodeUserParts(parts, names, context)
    return encoded.length > 0 ? [{ role: isModel ? 'model' : 'user', parts: encoded }] : []
  })
}

/** A result must repeat the name of its function, which callers send with the call only. */
function toolNamesIn(turns: readonly Turn[], { toolNames }: EncodeContext): ReadonlyMap<string, string> {
  const calls = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'))
  return new Map(calls.map(({ id, name }) => [id, toolNames.toUpstream(name)]))
}

/**
 * The model accepts documented text instead of a signature, for calls that it did not make itself. Chat callers cannot
 * send signatures back, and the history may come from another model.
 */
const anySignature = 'skip_thought_signature_validator'

/** The signature of thoughts belongs to the part that follows them. The thoughts themselves need not be sent. */
function encodeModelParts(parts: readonly ContentPart[], context: EncodeContext): GeminiPart[] {
  const encoded: GeminiPart[] = []
  let signature: string | undefined
  for (const part of parts) {
    if (part.type === 'thinking') signature = signatureOf(part, context) ?? signature
    const one = encodeModelPart(part, context)
    if (one === undefined) continue
    encoded.push({ ...one, ...(signature !== undefined && { thoughtSignature: signature }) })
    signature = undefined
  }
  return isSinceThree(context.call.model) ? withSignedCall(encoded) : encoded
}

const signatureOf = ({ signature }: Named<'thinking'>, { unwrapSignature }: EncodeContext): string | undefined =>
  signature && unwrapSignature(signature)?.value

/** Only the first of parallel calls has a signature. */
function withSignedCall(parts: readonly GeminiPart[]): GeminiPart[] {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined)
  return parts.map((part, at) => (at === first ? { thoughtSignature: anySignature, ...part } : part))
}

function encodeModelPart(part: ContentPart, context: EncodeContext): GeminiPart | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? undefined : { text: part.text }
    case 'tool-call':
      return { functionCall: encodeCall(part, context) }
    case 'image':
      return encodeImage(part, context)
    case 'file':
      return encodeFile(part, context)
    case 'opaque':
      dropForeignBlock(part, 'assistant', context)
      return undefined
    case 'thinking':
    case 'tool-result':
      return undefined
  }
}

const encodeCall = ({ id, name, input }: Named<'tool-call'>, { toolNames }: EncodeContext) => ({
  id: safeToolCallId(id),
  name: toolNames.toUpstream(name),
  args: inputObject(input),
})

function encodeUserParts(
  parts: readonly ContentPart[],
  names: ReadonlyMap<string, string>,
  context: EncodeContext,
): GeminiPart[] {
  const results = parts.filter((part) => part.type === 'tool-result')
  const media = results.flatMap((result) => result.parts.filter(isMedia))
  const others = parts.filter((part) => part.type !== 'tool-result')
  return [
    ...results.map((result) => encodeResult(result, names.get(result.id) ?? '', context)),
    ...[...media, ...others].flatMap((part) => encodeUserPart(part, context)),
  ]
}

const isMedia = (part: ContentPart): boolean =>
  part.type === 'image' || (part.type === 'file' && plainText(part.source) === undefined)

function encodeUserPart(part: ContentPart, context: EncodeContext): GeminiPart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
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

/** A result is text here. Its images and files follow it in the same turn. */
function encodeResult({ id, parts, isError }: Named<'tool-result'>, name: string, context: EncodeContext): GeminiPart {
  for (const part of parts) if (part.type === 'opaque') dropForeignBlock(part, 'user', context)
  const texts = parts.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'file') return plainText(part.source) ?? '[file: see below]'
    return part.type === 'image' ? '[image: see below]' : ''
  })
  const text = texts.filter((one) => one !== '').join('\n\n')
  return { functionResponse: { id: safeToolCallId(id), name, response: isError ? { error: text } : { output: text } } }
}

const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'])

function encodeImage({ source }: Named<'image'>, { call }: EncodeContext): GeminiPart {
  if (source.kind === 'url' && isFetched(source.url)) return encodeUrl(source.url)
  if (source.kind === 'base64' && imageTypes.has(source.mediaType))
    return { inlineData: { mimeType: source.mediaType, data: source.data } }
  if (source.kind === 'base64') throw unsupportedContent(call.request, `images of type ${source.mediaType}`)
  throw unsupportedContent(call.request, source.kind === 'url' ? 'images by this kind of URL' : 'images by file id')
}

const fileTypes = /^(?:application\/pdf|(?:audio|video)\/.+)$/

function encodeFile({ source, name }: Named<'file'>, { call }: EncodeContext): GeminiPart {
  const text = plainText(source)
  if (text !== undefined) return { text: name === undefined ? text : `${name}\n\n${text}` }
  if (source.kind === 'url' && isFetched(source.url)) return encodeUrl(source.url)
  if (source.kind === 'base64' && fileTypes.test(source.mediaType))
    return { inlineData: { mimeType: source.mediaType, data: source.data } }
  if (source.kind === 'base64') throw unsupportedContent(call.request, `files of type ${source.mediaType}`)
  throw unsupportedContent(call.request, source.kind === 'url' ? 'files by this kind of URL' : 'files by id')
}

/** The API fetches only these. */
const isFetched = (url: string): boolean => url.startsWith('https://') && URL.canParse(url)

const typeOfEnding: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['pdf', 'application/pdf'],
])

function encodeUrl(url: string): GeminiPart {
  const ending = new URL(url).pathname.split('.').at(-1)?.toLowerCase() ?? ''
  const mimeType = typeOfEnding.get(ending)
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri: url } }
}
