import type { Citation } from '../../../domain/inference/events.ts'
import { asCount, asRecord, asText, type JsonRecord } from '../json-values.ts'

/**
 * Decodes an annotation of OpenAI's formats. Chat completions nest its fields in an object, which `nestedIn` names.
 * Undefined for an annotation that cites no web page, such as one of a file.
 */
export function urlCitationOf(annotation: JsonRecord, nestedIn?: string): Citation | undefined {
  const fields = nestedIn === undefined ? annotation : asRecord(annotation[nestedIn])
  const url = asText(fields?.['url'])
  if (annotation['type'] !== 'url_citation' || url === '') return undefined
  const start = asCount(fields?.['start_index'])
  const end = asCount(fields?.['end_index'])
  const range = start !== undefined && end !== undefined && start < end ? { start, end } : undefined
  return { url, title: asText(fields?.['title']) || url, ...(range && { range }) }
}
