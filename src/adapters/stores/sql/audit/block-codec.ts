import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Events whose bodies are compressed together. Alone, a body shrinks to a half; together to a fifteenth. */
export const blockSize = 128
/** Larger bodies stay in `audit_body`, so that the size of a block has a bound. */
export const maxPackedCharacters = 16_384
/** A character has at most four bytes in UTF-8. */
const maxBytes = blockSize * (maxPackedCharacters * 4 + 1)
/** Most blocks fit into one buffer of this size. With the default, each is put together from many. */
const chunkSize = 256 * 1024

export const blockOf = (sequence: number): number => Math.floor((sequence - 1) / blockSize)
export const lastOfBlock = (block: number): number => (block + 1) * blockSize

/** Bodies of events, by sequence. */
export type Bodies = ReadonlyMap<number, string>

/** Bodies are canonical JSON, which has no line breaks. */
export function compressBlock(block: number, bodies: Bodies): Uint8Array {
  const first = block * blockSize + 1
  const lines = Array.from({ length: blockSize }, (_, at) => bodies.get(first + at) ?? '')
  return zstdCompressSync(lines.join('\n'))
}

export type PackedBlock = {
  readonly block: number
  readonly packed: Uint8Array
  /** The sequences whose bodies are needed; undefined for all. */
  readonly wanted?: readonly number[]
}

/** Damaged blocks have no bodies. */
export function decompressBlocks(blocks: readonly PackedBlock[]): Bodies {
  const bodies = new Map<number, string>()
  for (const { block, packed, wanted } of blocks) {
    const lines = linesOf(packed)
    const isWanted = new Set(wanted)
    let sequence = block * blockSize
    for (let start = 0; start < lines.length;) {
      const found = lines.indexOf('\n', start)
      const end = found === -1 ? lines.length : found
      sequence++
      if (end > start && (wanted === undefined || isWanted.has(sequence)))
        bodies.set(sequence, lines.toString('utf8', start, end))
      start = end + 1
    }
  }
  return bodies
}

function linesOf(packed: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: maxBytes, chunkSize })
  } catch {
    return Buffer.alloc(0)
  }
}
