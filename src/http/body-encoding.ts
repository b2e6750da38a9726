import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { Fault } from '../base/fault.ts'

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

/** What this server decompresses. */
export const acceptedEncodings = 'gzip, deflate, br, zstd'

/** The decompression of a request body; undefined if it is not compressed. Throws for an encoding that is not supported. */
export function bodyDecoder(encoding: string | undefined): Transform | undefined {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return undefined
  const createDecoder = decoders.get(name)
  if (createDecoder !== undefined) return createDecoder()
  const message = `The body has an unsupported content-encoding. Send it uncompressed, or with one of: ${acceptedEncodings}.`
  throw new Fault('encoding', 'unsupported_encoding', message)
}
