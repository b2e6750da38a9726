import { afterIo } from './after-io.ts'

/**
 * Small enough for the young generation of the heap, where they are freed soon. A buffer or a longer text would make V8 collect the whole
 * heap of the thread that sends it.
 */
const chunkLength = 65_536

/** Cuts a text into chunks that can be encoded one by one: no pair of surrogates is split. */
export function toChunks(text: string): string[] {
  const chunks: string[] = []
  for (let start = 0; start < text.length;) {
    const cut = start + chunkLength
    const end = isHighSurrogate(text.charCodeAt(cut - 1)) ? cut + 1 : cut
    chunks.push(text.slice(start, end))
    start = end
  }
  return chunks
}

/** One chunk for each turn of the event loop, so that a long text delays no request. */
export async function* inTurns(chunks: readonly string[]): AsyncGenerator<string> {
  for (const chunk of chunks) {
    yield chunk
    await afterIo()
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
