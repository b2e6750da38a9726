import type { InferenceRequest, Part, Tool } from '../inference/request.ts'
import { stringsIn } from './strings.ts'

/**
 * All that a request tells the model, block by block: what is the same as in the last turn of a chat is the same block,
 * and was judged then. Pictures are not read.
 */
export function textsOfRequest({ messages, tools }: InferenceRequest): readonly string[] {
  const texts: string[] = []
  for (const { parts } of messages) for (const part of parts) addPart(texts, part)
  for (const tool of tools) addText(texts, textOfTool(tool))
  return texts
}

function addPart(texts: string[], part: Part): void {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return addText(texts, part.text)
    case 'tool-call':
      return addText(texts, `${part.name}\n${textOfJson(part.input)}`)
    case 'tool-result':
      for (const inner of part.parts) addPart(texts, inner)
      return
    case 'image':
      return
    case 'file':
      addText(texts, part.name ?? '')
      return addText(texts, part.source.kind === 'text' ? part.source.text : '')
    case 'opaque':
      return addText(texts, stringsIn(part.raw).join('\n'))
  }
}

const addText = (texts: string[], text: string): void => {
  if (text.trim() !== '') texts.push(text)
}

function textOfTool(tool: Tool): string {
  if (tool.type === 'opaque') return stringsIn(tool.raw).join('\n')
  return [tool.name, tool.description ?? '', ...stringsIn(tool.parameters)].join('\n')
}

/** The strings in a JSON text, so that no escape hides a word; the text itself where it is no JSON. */
export function textOfJson(json: string): string {
  try {
    return stringsIn(JSON.parse(json)).join('\n')
  } catch {
    return json
  }
}
