/**
 * A parser keeps one value of a name that an object has twice, and clients may keep another one. A frame that is passed on
 * as it came carries both. It has more names than its parsed body has.
 */

const quote = 0x22
const backslash = 0x5c
const space = 0x20

/** Whether JSON has more names than its parsed value has. */
export const hasMoreNames = (data: string, names: number): boolean =>
  mostNamesIn(data) !== names &&
  data
    .matchAll(strings)
    .filter(([, , colon]) => colon !== undefined)
    .toArray().length !== names

/** Every string in JSON, names included. */
export const stringValuesIn = (data: string): readonly string[] =>
  Array.from(data.matchAll(strings), ([, spelled]) => String(JSON.parse(spelled ?? '""')))

const strings = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g

/** A colon behind a quote that nothing escapes ends a name, or is the first character of a string. */
function mostNamesIn(data: string): number {
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

/** Names in a parsed value. */
export function nameCount(value: object): number {
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let count = Array.isArray(value) ? 0 : values.length
  for (const one of values) if (typeof one === 'object' && one !== null) count += nameCount(one)
  return count
}
