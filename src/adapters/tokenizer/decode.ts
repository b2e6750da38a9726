import { decode } from 'gpt-tokenizer/encoding/cl100k_base'

/** The token of the byte 0xff, which no character contains. */
const invalidByte = 187

/** The text of tokens of the cl100k vocabulary, which OpenAI's embedding models have. Undefined if one is unknown. */
export function decodeAll(lists: readonly (readonly number[])[]): readonly (string | undefined)[] {
  return lists.map((tokens) => {
    try {
      // The library keeps half a character at the end of a list for the next call. The invalid byte ends it, so that no
      // text of one list gets into another.
      return decode([...tokens, invalidByte]).slice(0, -1)
    } catch {
      decode([invalidByte])
      return undefined
    }
  })
}
