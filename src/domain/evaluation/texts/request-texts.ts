import type { InferenceRequest, Message, ContentPart, Source, Tool } from '../../inference/request.ts'
import type { InjectionPlace } from '../../scan/injection/places.ts'
import type { ScannedTexts } from '../scan/collect-findings.ts'
import { attachmentText } from './attachments.ts'
import { joinedFragments } from './joined-fragments.ts'
import { addPlace, placeOf } from './text-places.ts'
import { stringsIn, textOfAddress, wordsIn } from './text-fields.ts'

/**
 * All texts of a request, one per block, so that a block of an earlier chat turn has the same text and its cached result can
 * be used. Images are skipped unless their field contains text. Texts in unknown fields are included, because an upstream of
 * the caller's dialect gets the raw body.
 */
export const requestTexts = (request: InferenceRequest): readonly string[] => blocksOf(request).texts

function blocksOf({ messages, tools, raw }: InferenceRequest): Blocks {
  const blocks = new Blocks()
  for (const tool of tools) blocks.add(stringsOfTool(tool))
  for (const { role, parts } of messages)
    for (const part of parts) {
      blocks.place = placeOf(role, part)
      addPart(blocks, part)
    }
  blocks.place = undefined
  const isIncluded = createLookup(blocks.strings)
  blocks.add(wordsIn(raw.body, raw.roles).filter((words) => !isIncluded(words)))
  return blocks
}

/** Where a text of a request is. */
export type TextLocation =
  /** One part of a message. Some parts have several texts. */
  | { readonly kind: 'part'; readonly message: number; readonly part: number }
  /** A field of the raw body that no part contains. */
  | { readonly kind: 'other' }
  /** Neighbouring parts, joined. */
  | { readonly kind: 'joined' }

export type LocatedText = {
  readonly text: string
  readonly where: TextLocation
  /** True if the text is prose, which a response sends piece by piece. */
  readonly isProse: boolean
  /** Where it is scanned for prompt injections. */
  readonly places: readonly InjectionPlace[]
}

/** The same texts as `requestTexts`, each with its location. Slower, and only used to explain a verdict. */
export function locatedTexts(request: InferenceRequest): readonly LocatedText[] {
  const located = request.messages.flatMap(({ role, parts }, message) =>
    parts.flatMap((content, part) => {
      const blocks = new Blocks()
      addPart(blocks, content)
      const place = placeOf(role, content)
      const places = place === undefined ? none : [place]
      const isProse = proseTypes.has(content.type)
      const where = { kind: 'part', message, part } as const
      return blocks.texts.map((text): LocatedText => ({ text, where, isProse, places }))
    }),
  )
  const known = new Set(located.map(({ text }) => text))
  const others = requestTexts(request).filter((text) => !known.has(text))
  const elsewhere = { where: { kind: 'other' }, isProse: false, places: none } as const
  return [...located, ...others.map((text): LocatedText => ({ text, ...elsewhere }))]
}

const proseTypes: ReadonlySet<ContentPart['type']> = new Set(['text', 'thinking', 'refusal'])

class Blocks {
  readonly texts: string[] = []
  /** Every string that is part of a block. */
  readonly strings: string[] = []
  readonly places = new Map<string, readonly InjectionPlace[]>()
  /** The place of the texts that are added next. */
  place: InjectionPlace | undefined

  addText(text: string): void {
    this.strings.push(text)
    if (!/\S/.test(text)) return
    this.texts.push(text)
    if (this.place !== undefined) addPlace(this.places, text, this.place)
  }

  /** Adds several strings as one text. */
  add(parts: readonly string[]): void {
    for (const one of parts) this.strings.push(one)
    this.addText(parts.join('\n'))
  }
}

/**
 * Returns a function that tells whether a string is one of these. Lookups usually come in the order of the list, so the next
 * string and those after it are compared first. Only if that fails are all strings hashed, which costs as much as a scan.
 */
function createLookup(strings: readonly string[]): (text: string) => boolean {
  let next = 0
  let triesLeft = strings.length * 2
  let all: ReadonlySet<string> | undefined
  return (text) => {
    while (triesLeft > 0) {
      if (strings[next++ % strings.length] === text) return true
      triesLeft -= 1
    }
    all ??= new Set(strings)
    return all.has(text)
  }
}

/** The texts of a request to scan. A request with only an image has one empty text, because rules may depend on the caller alone. */
export function scannedTextsOf(
  request: InferenceRequest,
): Required<Pick<ScannedTexts, 'texts' | 'joinedFragments' | 'places'>> {
  const { texts, places } = blocksOf(request)
  const joined = joinedTextsOf(request)
  for (const { text, place } of joined) if (place !== undefined) addPlace(places, text, place)
  return {
    texts: texts.length === 0 ? [''] : texts,
    joinedFragments: joined.length === 0 ? none : joined.map(({ text }) => text),
    places,
  }
}

export type JoinedText = { readonly text: string; readonly place: InjectionPlace | undefined }

/** Neighbouring text parts of one side of the conversation, joined. */
export function joinedTextsOf({ messages }: InferenceRequest): readonly JoinedText[] {
  if (!messages.some(hasNeighbours)) return none
  const all: JoinedText[] = []
  const addJoined = (parts: readonly ContentPart[], place: InjectionPlace | undefined): void => {
    for (const text of joinedFragments(parts.map(proseOf))) all.push({ text, place })
  }
  for (const { role, parts } of turnsOf(messages)) {
    addJoined(parts, role === 'user' ? 'user_text' : undefined)
    for (const part of parts) if (part.type === 'tool-result') addJoined(part.parts, 'tool_results')
  }
  return all
}

/** False for most messages of a chat, whose sides alternate: they have one part, and no other part is beside it. */
const hasNeighbours = ({ role, parts }: Message, at: number, messages: readonly Message[]): boolean =>
  parts.length !== 1 || role === messages[at - 1]?.role || parts[0]?.type === 'tool-result'

const none: readonly never[] = []

const proseOf = (part: ContentPart): string => (part.type === 'text' ? part.text : '')

/** Groups the parts of consecutive messages with the same role. */
function turnsOf(messages: readonly Message[]): readonly Message[] {
  const turns: { readonly role: Message['role']; readonly parts: ContentPart[] }[] = []
  for (const { role, parts } of messages) {
    const last = turns.at(-1)
    if (last?.role !== role) turns.push({ role, parts: parts.slice() })
    else for (const part of parts) last.parts.push(part)
  }
  return turns
}

function addPart(blocks: Blocks, part: ContentPart): void {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return blocks.addText(part.text)
    case 'tool-call':
      blocks.add([part.name, ...stringsOfJson(part.input)])
      // Some dialects send the arguments as one JSON string.
      blocks.strings.push(part.input)
      return
    case 'tool-result':
      for (const inner of part.parts) addPart(blocks, inner)
      return
    case 'image':
      return blocks.addText(textOfSource(part.source))
    case 'file':
      blocks.addText(part.name ?? '')
      return blocks.addText(textOfSource(part.source))
    case 'opaque':
      return blocks.add(stringsIn(part.raw))
  }
}

function textOfSource(source: Source): string {
  if (source.kind === 'text') return source.text
  if (source.kind === 'url') return textOfAddress(source.url) ?? ''
  return source.kind === 'base64' ? (attachmentText(source.data) ?? '') : ''
}

function stringsOfTool(tool: Tool): readonly string[] {
  if (tool.type === 'opaque') return stringsIn(tool.raw)
  return [tool.name, tool.description ?? '', ...stringsIn(tool.parameters)]
}

/** The strings in a JSON text, unescaped; the text itself if it is not JSON. */
export const textOfJson = (json: string): string => stringsOfJson(json).join('\n')

function stringsOfJson(json: string): readonly string[] {
  try {
    return stringsIn(JSON.parse(json))
  } catch {
    return [json]
  }
}
