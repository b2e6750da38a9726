import type { Citation } from '../../../domain/inference/events.ts'

/** The position of a cited block in the text that the indexes of its citations count from. */
export type CitedBlock = { readonly offset: number; readonly length: number }

/** The fields that both OpenAI dialects have. A citation without a usable range is for the whole block. */
export function urlCitation({ url, title, range }: Citation, { offset, length }: CitedBlock) {
  const { start, end } = range !== undefined && range.end <= length ? range : { start: 0, end: length }
  return { url, title, start_index: offset + start, end_index: offset + end }
}
