import type { Chunk } from '../../inference/events.ts'
import type { ContentPart, Message } from '../../inference/request.ts'
import { cutText } from './truncate.ts'
import type { AuditContent, ContentLevel } from './content.ts'

/** Collects the texts of one request and its answer that are stored with its event. */
export type TextCollector = {
  /** Called for each chunk of the answer. */
  add(chunk: Chunk): void
  content(): AuditContent
}

export type TextRules = {
  readonly level: Exclude<ContentLevel, 'none'>
  readonly redact: (text: string) => string
}

/** Longer texts are truncated and end in an ellipsis. */
const maxTextBytes = 256_000

export function collectTexts(messagesOf: () => readonly Message[], { level, redact }: TextRules): TextCollector {
  let response = ''
  return {
    add({ events }) {
      for (const event of events) {
        if (event.type === 'delta' && response.length < maxTextBytes) response += event.text
      }
    },
    content() {
      const texts = { prompt: promptOf(messagesOf()), response: response.toWellFormed() }
      const storedTexts = (transform: (text: string) => string) => ({
        prompt: cutText(transform(texts.prompt), maxTextBytes),
        response: cutText(transform(texts.response), maxTextBytes),
      })
      const redacted = storedTexts(redact)
      return level === 'full' ? { full: storedTexts((text) => text), redacted } : { redacted }
    },
  }
}

/** All messages of the request, in order. */
function promptOf(messages: readonly Message[]): string {
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
