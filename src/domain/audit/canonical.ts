/**
 * JSON in its one canonical spelling (RFC 8785): keys sorted by UTF-16 unit, no spaces, numbers as ECMAScript
 * prints them. Two parties that hold the same value hash the same bytes.
 *
 * Members that are `undefined` are left out, as in JSON.stringify. What JSON cannot say exactly (NaN, functions,
 * half a surrogate pair) is refused: a hash over a guess proves nothing.
 */
export function canonicalize(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  if (typeof value === 'object') return canonicalObject(value)
  throw new TypeError(`A ${typeof value} has no canonical JSON.`)
}

function canonicalObject(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${canonicalString(key)}:${canonicalize(member)}`)
  return `{${members.join(',')}}`
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON.`)
  return JSON.stringify(value)
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('A string with half a surrogate pair has no canonical JSON.')
  return JSON.stringify(value)
}
