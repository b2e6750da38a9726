/** A text in the address. The router reads `123` there as a number. An empty text counts as none. */
export const searchText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
