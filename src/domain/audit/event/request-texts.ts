import type { Chunk } from '../../inference/events.ts'
import type { ContentPart, Message, RawRequest } from '../../inference/request.ts'
import { cutText } from './truncate.ts'
import type { AuditContent, ContentLevel, ContentTexts } from './content.ts'
import { outlineOf, type PromptMessage } from './request-outline.ts'

/** Collects the texts of one request and its answer that are stored with its event. */
export type TextCollector = {
  /** Called for each chunk of the response that is sent. */
  add(chunk: Chunk): void
  /** Called once with what is not sent, because a check denied it. */
  withhold(chunks: readonly Chunk[]): void
  content(): AuditContent
}

export type TextRules = {
  readonly level: Exclude<ContentLevel, 'none'>
  readonly redact: (text: string) => string
}

/** Longer texts are truncated and end in an ellipsis. */
const maxTextBytes = 256_000

export type CollectedRequest = {
  readonly messagesOf: () => readonly Message[]
  /** The request as it was sent; undefined for an operation without messages. */
  readonly raw: RawRequest | undefined
}

export function collectTexts({ messagesOf, raw }: CollectedRequest, { level, redact }: TextRules): TextCollector {
  let response = ''
  let withheld = ''
  return {
    add({ events }) {
      response = withDeltas(response, events)
    },
    withhold(chunks) {
      for (const { events } of chunks) withheld = withDeltas(withheld, events)
    },
    content() {
      const messages = promptMessages(messagesOf())
      const whole = messages.map(({ role, text }) => `${role}: ${text}`).join('\n')
      const storedTexts = (transform: (text: string) => string): ContentTexts => {
        const prompt = cutText(transform(whole), maxTextBytes)
        return {
          prompt,
          outline: raw && outlineOf({ prompt, messages, raw, transform }),
          ...responseTexts(transform, { response, withheld }),
        }
      }
      const redacted = storedTexts(redact)
      return level === 'full' ? { full: storedTexts((text) => text), redacted } : { redacted }
    },
  }
}

/** Redaction reads all that is collected, so a response of many megabytes is cut here, well above what is stored. */
const maxCollected = 2 * maxTextBytes

function withDeltas(text: string, events: Chunk['events']): string {
  let all = text
  for (const event of events)
    if (event.type === 'delta' && all.length < maxCollected) all += event.text.slice(0, maxCollected)
  return all
}

type ResponseTexts = { readonly response: string; readonly withheld: string }

/** Both parts are transformed together, because personal data may begin in the part that was sent and end in the other. */
function responseTexts(transform: (text: string) => string, { response, withheld }: ResponseTexts) {
  const sent = transform(response.toWellFormed())
  if (withheld === '') return { response: cutText(sent, maxTextBytes) }
  const whole = transform((response + withheld).toWellFormed())
  let at = 0
  while (at < sent.length && sent[at] === whole[at]) at += 1
  return { response: cutText(whole.slice(0, at), maxTextBytes), withheld: cutText(whole.slice(at), maxTextBytes) }
}

/** All messages of the request, in order, up to the size that is stored. */
function promptMessages(messages: readonly Message[]): readonly PromptMessage[] {
  const shown: PromptMessage[] = []
  let size = 0
  for (const { role, parts } of messages) {
    // Redaction may shorten a text, so twice of what is stored is enough.
    const text = parts
      .map(textOf)
      .filter(Boolean)
      .join('\n')
      .slice(0, 2 * maxTextBytes)
      .toWellFormed()
    shown.push({ role, text, partTypes: parts.map(({ type }) => type) })
    size += text.length
    if (size > maxTextBytes) break
  }
  return shown
}

function textOf(part: ContentPart): string {
  if (part.type === 'tool-call') return `${part.name}(${part.input})`
  if (part.type === 'tool-result') return part.parts.map(textOf).join('\n')
  return 'text' in part ? part.text : ''
}
