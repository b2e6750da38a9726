import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** Decompresses a response body as it arrives. */
export type Decompression = {
  push(bytes: Buffer): void
  /** No more input. Emits the remaining output, then calls `onEnd`. */
  end(): void
  /** Stops decompressing until `resume`, because a few input bytes may expand to more than the buffer limit. */
  pause(): void
  resume(): void
  stop(): void
}

export type DecompressionParts = {
  readonly onBytes: (bytes: Buffer) => void
  readonly onEnd: () => void
  readonly onBroken: (error: Error) => void
}

/** A `Map` and not an object, because the key comes from the upstream: `constructor` must not match. */
const decompressors: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

/** The gateway never requests compression, but some proxies compress anyway. Undefined if the encoding is not compression. */
export function createDecompression(encoding: unknown, parts: DecompressionParts): Decompression | undefined {
  const decompressor = decompressors.get(String(encoding).trim().toLowerCase())?.()
  if (decompressor === undefined) return undefined
  decompressor.on('data', parts.onBytes).on('end', parts.onEnd).on('error', parts.onBroken)
  return {
    push: (bytes) => void decompressor.write(bytes),
    end: () => void decompressor.end(),
    pause: () => void decompressor.pause(),
    resume: () => void decompressor.resume(),
    stop: () => void decompressor.destroy(),
  }
}
