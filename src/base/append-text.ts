/** The copies of a text while it grows are together at most some 30 times as long as the text. */
const leastStep = 512

/**
 * Appends to a text that grows by small parts and is kept for long. V8 stores such a text as a tree of its parts, with 70 bytes
 * for each, and a joined text as one string. So it is joined again whenever it has grown by a sixteenth.
 */
export function appendText(text: string, more: string): string {
  if (text === '') return more
  const length = text.length + more.length
  const step = Math.max(leastStep, 1 << (27 - Math.clz32(length)))
  return Math.floor(length / step) === Math.floor(text.length / step) ? text + more : [text, more].join('')
}
