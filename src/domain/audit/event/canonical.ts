/**
 * Canonical JSON (RFC 8785): keys sorted by UTF-16 code unit, no spaces, numbers as ECMAScript prints them. Two parties with
 * the same value hash the same bytes.
 *
 * Members that are `undefined` are left out, as in JSON.stringify. Throws for values that JSON cannot represent exactly (NaN,
 * functions, lone surrogates), because a hash over an approximation proves nothing.
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
  let text = '{'
  for (const [key, member] of Object.entries(value).sort(byKey)) {
    if (member !== undefined) text += `${text === '{' ? '' : ','}${canonicalString(key)}:${canonicalize(member)}`
  }
  return `${text}}`
}

/** By UTF-16 code unit, as JavaScript compares strings. */
const byKey = ([left]: [string, unknown], [right]: [string, unknown]): number => (left < right ? -1 : 1)

/**
 * The same value with its members in canonical order at every depth. `JSON.stringify` then produces canonical JSON at a
 * fraction of the cost of `canonicalize`. Keys that look like integers must not occur, because JavaScript orders them first.
 */
export function inCanonicalOrder<T>(value: T): T
export function inCanonicalOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCanonicalOrder)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.sort(byKey).map(([key, member]) => [key, inCanonicalOrder(member)]))
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON.`)
  return JSON.stringify(value)
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('A string with a lone surrogate has no canonical JSON.')
  return JSON.stringify(value)
}
