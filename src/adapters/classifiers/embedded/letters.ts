/** The character codes of a text in a typed array, where reading a character costs a quarter of `charCodeAt`. */
export type Letters = {
  readonly text: string
  /** The codes of the text, followed by zeros, so that a look-ahead at the end reads no stale codes. */
  readonly codes: Uint16Array
}

const lookAhead = 4

/** Creates a function that converts a text to `Letters`. Its result is valid until the next call. */
export function createToLetters(): (text: string) => Letters {
  let codes = new Uint16Array(0)
  let bytes = Buffer.from(codes.buffer)
  return (text) => {
    if (text.length + lookAhead > codes.length) {
      codes = new Uint16Array(2 ** Math.ceil(Math.log2(text.length + lookAhead)))
      bytes = Buffer.from(codes.buffer)
    }
    bytes.write(text, 'utf16le')
    codes.fill(0, text.length, text.length + lookAhead)
    return { text, codes }
  }
}
