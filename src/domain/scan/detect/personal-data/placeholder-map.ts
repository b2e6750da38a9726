import { literalLabel } from './placeholder.ts'
import { placeholderLabels } from './kinds.ts'
import type { PersonalDataMatch } from './find.ts'

/** Maps the placeholders of one request to the personal data they replace. Lives in memory, for that request only. */
export type PlaceholderMap = {
  /** The same text of the same kind always gets the same placeholder. */
  placeholderFor(kind: PersonalDataMatch['kind'], value: string): string
  valueOf(placeholder: string): string | undefined
  /** A copy of the current state that later changes do not affect. */
  snapshot(): Pick<PlaceholderMap, 'valueOf'>
}

export function createPlaceholderMap(): PlaceholderMap {
  const placeholderByValue = new Map<string, string>()
  const valueByPlaceholder = new Map<string, string>()
  const countByLabel = new Map<string, number>()
  return {
    placeholderFor(kind, value) {
      const label = kind === 'literal' ? literalLabel : placeholderLabels[kind]
      const key = `${label}:${value}`
      const known = placeholderByValue.get(key)
      if (known !== undefined) return known
      const count = (countByLabel.get(label) ?? 0) + 1
      const placeholder = `[${label}_${count}]`
      countByLabel.set(label, count)
      placeholderByValue.set(key, placeholder)
      valueByPlaceholder.set(placeholder, value)
      return placeholder
    },
    valueOf: (placeholder) => valueByPlaceholder.get(placeholder),
    snapshot() {
      const known = new Map(valueByPlaceholder)
      return { valueOf: (placeholder) => known.get(placeholder) }
    },
  }
}
