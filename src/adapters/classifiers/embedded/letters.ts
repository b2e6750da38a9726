/** A text with its characters as numbers in a row: read there, each of them costs a quarter of what it costs in the text. */
export type Letters = {
  readonly text: string
  /** Those of the text, and then some zeros: whoever looks ahead at its end finds nothing. */
  readonly codes: Uint16Array
}

const lookAhead = 4

/** What the speller answers holds until it is asked again. */
export function createSpeller(): (text: string) => Letters {
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
