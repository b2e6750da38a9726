import { asRecord, type JsonRecord } from '../json-values.ts'

/**
 * Removes citations that another upstream made from the history of a request, and reports them. The gateway gives them to the
 * caller without `encrypted_index`, and the vendor rejects a citation that it did not make itself.
 */
export function withoutForeignCitations(body: JsonRecord, onDropped: (field: string) => void): JsonRecord {
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some(hasForeign)) return body
  onDropped('citations')
  return { ...body, messages: messages.map((message: unknown) => (hasForeign(message) ? cleaned(message) : message)) }
}

type CitingMessage = { readonly content: readonly unknown[] }

function hasForeign(message: unknown): message is CitingMessage {
  const content = asRecord(message)?.['content']
  return Array.isArray(content) && content.some((block) => citationsOf(block).some(isForeign))
}

const citationsOf = (block: unknown): readonly unknown[] => {
  const citations = asRecord(block)?.['citations']
  return Array.isArray(citations) ? citations : none
}

const none: readonly never[] = []

function isForeign(citation: unknown): boolean {
  const { type, encrypted_index: proof } = asRecord(citation) ?? {}
  return type === 'web_search_result_location' && proof === ''
}

const cleaned = (message: CitingMessage): unknown => ({ ...message, content: message.content.map(withoutForeign) })

function withoutForeign(block: unknown): unknown {
  const kept = citationsOf(block).filter((citation) => !isForeign(citation))
  if (kept.length === citationsOf(block).length) return block
  const { citations: _citations, ...rest } = asRecord(block) ?? {}
  return kept.length === 0 ? rest : { ...rest, citations: kept }
}
