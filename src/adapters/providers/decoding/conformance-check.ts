import type { JsonRecord } from '../json-values.ts'

/**
 * Whether an upstream's words can go to a caller of its dialect as they stand. Servers that only imitate a vendor leave
 * out what the vendor's clients rely on, such as an index, a role or an id: we understand them, their callers would not.
 * Such an answer is told in our words.
 */
export type ConformanceCheck = {
  /** One event of a stream, in its order. */
  event(body: JsonRecord): boolean
  document(body: JsonRecord): boolean
}

/** Present and not empty. */
export const isNamed = (value: unknown): value is string => typeof value === 'string' && value !== ''
