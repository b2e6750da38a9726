import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'

export type CompressedLines = {
  readonly bytes: Uint8Array
  /** SHA-256 of the text before it was compressed. */
  readonly textSha256: string
}

/** Compresses lines. Only the compressed bytes and one page of lines are in memory. */
export async function compressLines(pages: AsyncIterable<readonly string[]>): Promise<CompressedLines> {
  const hash = createHash('sha256')
  const chunks: Buffer[] = []
  await pipeline(
    texts(pages, (text) => hash.update(text)),
    createZstdCompress(),
    async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) chunks.push(chunk)
    },
  )
  return { bytes: Buffer.concat(chunks), textSha256: hash.digest('hex') }
}

async function* texts(pages: AsyncIterable<readonly string[]>, onText: (text: string) => void): AsyncGenerator<string> {
  for await (const lines of pages) {
    const text = lines.map((line) => `${line}\n`).join('')
    onText(text)
    yield text
  }
}

/** SHA-256 of the text in compressed bytes; undefined if they cannot be decompressed. */
export async function textSha256Of(bytes: Uint8Array): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    await pipeline(Readable.from([bytes]), createZstdDecompress(), async (text: AsyncIterable<Buffer>) => {
      for await (const chunk of text) hash.update(chunk)
    })
    return hash.digest('hex')
  } catch {
    return undefined
  }
}
