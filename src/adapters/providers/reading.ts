/** Reading JSON that an upstream sent and nobody has checked: a wrong type reads as absent, never as a crash. */
export type Json = Readonly<Record<string, unknown>>

export const recordOf = (value: unknown): Json | undefined => (isRecord(value) ? value : undefined)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const recordsOf = (value: unknown): readonly Json[] => listOf(value).filter(isRecord)

/** Empty where it is no string. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A count of tokens or a place in a list: a whole number from 0 on. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined

/** Undefined where the text is no JSON object. */
export function parseRecord(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return recordOf(value)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
