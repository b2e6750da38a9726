import type { InferenceRequest, Message, ContentPart, Source, Tool } from '../../inference/request.ts'
import { attachmentText } from './attachments.ts'
import { joinedFragments } from './joined-fragments.ts'
import { stringsIn, textOfAddress, wordsIn } from './text-fields.ts'

/**
 * All that a request tells the model, block by block: what is the same as in the last turn of a chat is the same block in
 * the same place, and was judged then. Pictures are not read, unless text stands in their place. What stands in fields that we do not know is read too, since an upstream of
 * the caller's dialect gets them.
 */
export function textsOfRequest({ messages, tools, raw: original }: InferenceRequest): readonly string[] {
  const blocks = createBlocks()
  for (const tool of tools) blocks.add(stringsOfTool(tool))
  for (const { parts } of messages) for (const part of parts) addPart(blocks, part)
  const isRead = createLookUp(blocks.read)
  blocks.add(wordsIn(original.body, original.roles).filter((words) => !isRead(words)))
  return blocks.texts
}

function createBlocks() {
  const texts: string[] = []
  /** Every string that stands in a block. */
  const read: string[] = []
  const addText = (text: string): void => {
    read.push(text)
    if (/\S/.test(text)) texts.push(text)
  }
  return {
    texts,
    read,
    addText,
    /** Several strings as one text. */
    add(strings: readonly string[]): void {
      for (const one of strings) read.push(one)
      addText(strings.join('\n'))
    },
  }
}

/**
 * Whether a string is one of these. They are mostly asked for in the order in which they stand, so the next one is tried
 * first, and those after it; only where that leads nowhere is each of them hashed, which costs as much as reading it.
 */
function createLookUp(strings: readonly string[]): (wanted: string) => boolean {
  let next = 0
  let triesLeft = strings.length * 2
  let all: ReadonlySet<string> | undefined
  return (wanted) => {
    while (triesLeft > 0) {
      if (strings[next++ % strings.length] === wanted) return true
      triesLeft -= 1
    }
    all ??= new Set(strings)
    return all.has(wanted)
  }
}

/** What is judged of a request. A picture alone says nothing, and is asked for by somebody all the same: rules may ask who it is. */
export function scannedTextsOf(request: InferenceRequest) {
  const texts = textsOfRequest(request)
  return { texts: texts.length === 0 ? [''] : texts, seams: joinedFragmentsOf(request) }
}

/** What several parts say together. */
export function joinedFragmentsOf({ messages }: InferenceRequest): readonly string[] {
  return turnsOf(messages).flatMap((parts) => [
    ...joinedFragments(parts.map(proseOf)),
    ...parts.flatMap((part) => (part.type === 'tool-result' ? joinedFragments(part.parts.map(proseOf)) : [])),
  ])
}

const proseOf = (part: ContentPart): string => (part.type === 'text' ? part.text : '')

/** All parts that one side says before the other speaks: in how many messages it does so makes no difference. */
function turnsOf(messages: readonly Message[]): readonly (readonly ContentPart[])[] {
  const turns: ContentPart[][] = []
  for (const [at, { role, parts }] of messages.entries()) {
    if (role !== messages[at - 1]?.role) turns.push([])
    for (const part of parts) turns.at(-1)?.push(part)
  }
  return turns
}

type Blocks = ReturnType<typeof createBlocks>

function addPart(blocks: Blocks, part: ContentPart): void {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return blocks.addText(part.text)
    case 'tool-call':
      blocks.add([part.name, ...stringsOfJson(part.input)])
      // Some dialects send what a tool is told as one text.
      blocks.read.push(part.input)
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

/** The strings in a JSON text, so that no escape hides a word; the text itself where it is no JSON. */
export const textOfJson = (json: string): string => stringsOfJson(json).join('\n')

function stringsOfJson(json: string): readonly string[] {
  try {
    return stringsIn(JSON.parse(json))
  } catch {
    return [json]
  }
}
