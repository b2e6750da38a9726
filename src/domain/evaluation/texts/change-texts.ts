import type { InferenceRequest, Message, ContentPart, Source } from '../../inference/request.ts'
import { changeAttachment } from './attachments.ts'
import { mapJson } from './json-texts.ts'
import { mapRequest, mapStrings } from './text-fields.ts'

/**
 * Changes the texts of a request, in its decoded messages and in its raw body, because an upstream of the same dialect gets
 * the raw body. Thinking stays unchanged, because its signature would become invalid.
 */
export function changeTexts(request: InferenceRequest, change: (text: string) => string): InferenceRequest {
  const { roles } = request.raw
  return {
    ...request,
    messages: request.messages.map(({ role, parts }): Message => ({ role, parts: parts.map(changed) })),
    raw: { ...request.raw, body: mapRequest(request.raw.body, change, roles) },
  }

  function changed(part: ContentPart): ContentPart {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return { ...part, text: change(part.text) }
      case 'tool-call':
        return { ...part, input: mapJson(part.input, change) }
      case 'tool-result':
        return { ...part, parts: part.parts.map(changed) }
      case 'file':
        return {
          ...part,
          ...(part.name !== undefined && { name: change(part.name) }),
          source: changedSource(part.source),
        }
      case 'opaque':
        return { ...part, raw: mapStrings(part.raw, change, roles) }
      case 'thinking':
      case 'image':
        return part
    }
  }

  function changedSource(source: Source): Source {
    if (source.kind === 'text') return { kind: 'text', text: change(source.text) }
    return source.kind === 'base64' ? { ...source, data: changeAttachment(source.data, change) } : source
  }
}
