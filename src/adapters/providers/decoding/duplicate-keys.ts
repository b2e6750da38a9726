/**
 * Detects duplicate keys in JSON. A parser keeps one value of a duplicate key, and a client's parser may keep another one,
 * which was then never scanned. A raw frame with duplicate keys has more keys than its parsed body.
 */

const quote = 0x22
const backslash = 0x5c
const space = 0x20

/** True if the JSON text has another number of keys than its parsed value. */
export const hasDuplicateKeys = (data: string, keyCount: number): boolean =>
  maxKeysIn(data) !== keyCount &&
  data
    .matchAll(strings)
    .filter(([, , colon]) => colon !== undefined)
    .toArray().length !== keyCount

/** Every string of the JSON text, keys included. */
export const stringValuesIn = (data: string): readonly string[] =>
  Array.from(data.matchAll(strings), ([, literal]) => String(JSON.parse(literal ?? '""')))

const strings = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g

/** An upper bound: a colon after an unescaped quote follows a key, or is the first character of a string. */
function maxKeysIn(data: string): number {
  let count = 0
  for (let colon = data.indexOf(':'); colon !== -1; colon = data.indexOf(':', colon + 1)) {
    let at = colon - 1
    while (data.charCodeAt(at) <= space) at--
    if (data.charCodeAt(at) !== quote) continue
    let slashes = 0
    while (data.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) count += 1
  }
  return count
}

/** The number of keys in a parsed value, at all levels. */
export function countKeys(value: object): number {
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let count = Array.isArray(value) ? 0 : values.length
  for (const one of values) if (typeof one === 'object' && one !== null) count += countKeys(one)
  return count
}
