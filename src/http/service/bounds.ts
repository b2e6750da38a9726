/** The JSON Schema keywords that limit a value. */
export type Bounds = {
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: unknown
  readonly anyOf?: readonly Bounds[]
}

/** The limits and the default of a value as text: `1 to 80 characters`, `default 20`. */
export function boundWords({ anyOf = [], ...own }: Bounds): string[] {
  const words = [
    range(own.minimum, own.maximum, ''),
    range(own.minLength, own.maxLength, ' characters'),
    range(own.minItems, own.maxItems, ''),
    ...anyOf.flatMap(boundWords),
    own.default === undefined ? '' : `default ${JSON.stringify(own.default)}`,
  ]
  return words.filter((word) => word !== '')
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`
  if (to !== undefined) return `up to ${to}${unit}`
  return from === undefined ? '' : `from ${from}${unit}`
}
