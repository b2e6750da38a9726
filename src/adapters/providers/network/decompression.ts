import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** Takes the bytes of a compressed answer, and hands on what was packed in them. */
export type Decompression = {
  push(bytes: Buffer): void
  /** No more bytes: what is left is handed on, and then the end is told. */
  end(): void
  /** Until it is resumed, no more is unpacked: a few bytes may hold more than there is room for. */
  pause(): void
  resume(): void
  stop(): void
}

export type DecompressionParts = {
  readonly onBytes: (bytes: Buffer) => void
  readonly onEnd: () => void
  readonly onBroken: (error: Error) => void
}

/** A Map, because the words come from outside: `constructor` must find nothing. */
const unpackers: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

/** We never ask for compression, but some proxies on the way do it all the same. Undefined where nothing is packed. */
export function createDecompression(encoding: unknown, parts: DecompressionParts): Decompression | undefined {
  const unpacker = unpackers.get(String(encoding).trim().toLowerCase())?.()
  if (unpacker === undefined) return undefined
  unpacker.on('data', parts.onBytes).on('end', parts.onEnd).on('error', parts.onBroken)
  return {
    push: (bytes) => void unpacker.write(bytes),
    end: () => void unpacker.end(),
    pause: () => void unpacker.pause(),
    resume: () => void unpacker.resume(),
    stop: () => void unpacker.destroy(),
  }
}
