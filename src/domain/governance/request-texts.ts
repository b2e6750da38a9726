import type { InferenceRequest, Part, Tool } from '../inference/request.ts'
import { phrasesIn, stringsIn } from './strings.ts'

/**
 * All that a request tells the model, block by block: what is the same as in the last turn of a chat is the same block,
 * and was judged then. Pictures are not read. What stands in fields that we do not know is read too, since an upstream of
 * the caller's dialect gets them.
 */
export function textsOfRequest({ messages, tools, original }: InferenceRequest): readonly string[] {
  const blocks: (readonly string[])[] = []
  for (const { parts } of messages) for (const part of parts) addPart(blocks, part)
  for (const tool of tools) blocks.push(stringsOfTool(tool))
  const read = new Set([...blocks.flat(), ...messages.flatMap(({ parts }) => parts.flatMap(inputOf))])
  blocks.push(phrasesIn(original.body).filter((phrase) => !read.has(phrase)))
  return blocks.map((strings) => strings.join('\n')).filter((text) => text.trim() !== '')
}

function addPart(blocks: (readonly string[])[], part: Part): void {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return void blocks.push([part.text])
    case 'tool-call':
      return void blocks.push([part.name, ...stringsOfJson(part.input)])
    case 'tool-result':
      for (const inner of part.parts) addPart(blocks, inner)
      return
    case 'image':
      return
    case 'file':
      return void blocks.push([part.name ?? ''], part.source.kind === 'text' ? [part.source.text] : [])
    case 'opaque':
      return void blocks.push(stringsIn(part.raw))
  }
}

/** Some dialects send what a tool is told as one text. */
const inputOf = (part: Part): readonly string[] => (part.type === 'tool-call' ? [part.input] : [])

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
