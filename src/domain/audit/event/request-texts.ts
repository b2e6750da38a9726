import type { Chunk } from '../../inference/events.ts'
import type { InferenceRequest, ContentPart } from '../../inference/request.ts'
import { cutText } from './truncate.ts'
import type { AuditContent, ContentLevel } from './content.ts'

/** The texts of one request and its answer, as far as they are kept. */
export type TextCollector = {
  /** Reads along while the answer passes. */
  add(piece: Chunk): void
  content(): AuditContent
}

export type TextRules = {
  readonly level: Exclude<ContentLevel, 'none'>
  readonly redact: (text: string) => string
}

/** What is longer is cut, and ends in an ellipsis. */
const maxTextBytes = 256_000

export function collectTexts(request: InferenceRequest, { level, redact }: TextRules): TextCollector {
  let response = ''
  return {
    add({ events }) {
      for (const event of events) {
        if (event.type === 'delta' && response.length < maxTextBytes) response += event.text
      }
    },
    content() {
      const texts = { prompt: promptOf(request), response: response.toWellFormed() }
      const kept = (make: (text: string) => string) => ({
        prompt: cutText(make(texts.prompt), maxTextBytes),
        response: cutText(make(texts.response), maxTextBytes),
      })
      const redacted = kept(redact)
      return level === 'full' ? { full: kept((text) => text), redacted } : { redacted }
    },
  }
}

/** All that the model was told, in order. */
function promptOf({ messages }: InferenceRequest): string {
  const lines: string[] = []
  let size = 0
  for (const { role, parts } of messages) {
    const text = parts.map(textOf).filter(Boolean).join('\n')
    lines.push(`${role}: ${text}`)
    size += text.length
    if (size > maxTextBytes) break
  }
  return lines.join('\n').toWellFormed()
}

function textOf(part: ContentPart): string {
  if (part.type === 'tool-call') return `${part.name}(${part.input})`
  if (part.type === 'tool-result') return part.parts.map(textOf).join('\n')
  return 'text' in part ? part.text : ''
}
