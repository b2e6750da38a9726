import type { InferenceRequest, Message, Original, Part } from '../inference/request.ts'
import { mapJson, mapStrings } from './strings.ts'

/** Where a request of any dialect holds what the model is told. */
const spoken = ['messages', 'system', 'input', 'instructions', 'prompt'] as const

/**
 * The request with its texts changed, both in our language and in the caller's own words, so that an upstream of the
 * same dialect gets the change too. Thinking stays: its signature would no longer hold.
 */
export function changeTexts(request: InferenceRequest, change: (text: string) => string): InferenceRequest {
  return {
    ...request,
    messages: request.messages.map(({ role, parts }): Message => ({ role, parts: parts.map(changed) })),
    original: changedOriginal(request.original, change),
  }

  function changed(part: Part): Part {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return { ...part, text: change(part.text) }
      case 'tool-call':
        return { ...part, input: mapJson(part.input, change) }
      case 'tool-result':
        return { ...part, parts: part.parts.map(changed) }
      case 'file':
        return part.source.kind === 'text'
          ? { ...part, source: { kind: 'text', text: change(part.source.text) } }
          : part
      case 'opaque':
        return { ...part, raw: mapStrings(part.raw, change) }
      case 'thinking':
      case 'image':
        return part
    }
  }
}

function changedOriginal(original: Original, change: (text: string) => string): Original {
  const body: Record<string, unknown> = { ...original.body }
  for (const field of spoken) if (field in body) body[field] = mapStrings(body[field], change)
  return { ...original, body }
}
