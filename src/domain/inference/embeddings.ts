import type { ModelRequest } from './request.ts'

/** A request for one vector for each text. */
export type EmbeddingsRequest = Omit<ModelRequest, 'stream' | 'tools' | 'reasoning' | 'raw'> & {
  readonly stream: false
  readonly inputs: readonly string[]
  /** The length of the vectors, for models that can shorten them. */
  readonly dimensions?: number
  /** The form in which the caller wants the vectors. */
  readonly encoding: 'float' | 'base64'
  /** Names of fields that no upstream gets, because nothing scans them. */
  readonly unknownFields: readonly string[]
}

/** Its numbers, or the base64 of its 32-bit floats in little-endian order. */
export type Vector = readonly number[] | string

const bytesPerFloat = 4

export function floatsOf(vector: Vector): readonly number[] {
  if (typeof vector !== 'string') return vector
  const bytes = Buffer.from(vector, 'base64')
  const length = Math.floor(bytes.length / bytesPerFloat)
  return Array.from({ length }, (_, at) => bytes.readFloatLE(at * bytesPerFloat))
}

export function base64Of(vector: Vector): string {
  if (typeof vector === 'string') return vector
  const bytes = Buffer.alloc(vector.length * bytesPerFloat)
  vector.forEach((value, at) => bytes.writeFloatLE(value, at * bytesPerFloat))
  return bytes.toString('base64')
}

/** The port to a decoder of token ids. Undefined for a list with an id that its vocabulary does not have. */
export type DecodeTokens = (lists: readonly (readonly number[])[]) => Promise<readonly (string | undefined)[]>
