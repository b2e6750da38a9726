/** The model file: a magic number, a JSON header with its length, the weights, and a SHA-256 checksum at the end. */
import { createHash } from 'node:crypto'
import { buckets, readerVersion } from './read-text.ts'
import { wordClasses } from './word-classes.ts'

export type InjectionModel = {
  readonly bias: number
  /** By feature. The weight is the byte times `unit`. */
  readonly weights: Int8Array
  readonly unit: number
  /** By pair of classes, row by row; on the diagonal the weights of single classes. Only the upper half is used. */
  readonly pairs: Float32Array
  /** Names the model in caches. */
  readonly digest: string
}

const magic = 'GATEINJ1'
const digestBytes = 32
const pairCount = wordClasses.length ** 2

type Header = { readonly readerVersion: number; readonly bias: number; readonly unit: number }

export function encodeModel({ bias, weights, unit, pairs }: Omit<InjectionModel, 'digest'>): Uint8Array {
  const header: Header = { readerVersion, bias, unit }
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(2)
  length.writeUInt16LE(text.length)
  const body = Buffer.concat([Buffer.from(magic), length, text, bytesOf(weights), bytesOf(pairs)])
  return Buffer.concat([body, createHash('sha256').update(body).digest()])
}

/** Throws if the file is damaged, or was made for another version of the reader. */
export function decodeModel(file: Uint8Array): InjectionModel {
  const bytes = Buffer.from(file)
  const body = bytes.subarray(0, bytes.length - digestBytes)
  const digest = createHash('sha256').update(body).digest()
  if (!digest.equals(bytes.subarray(body.length))) throw new Error('The prompt injection model is damaged.')
  if (body.subarray(0, magic.length).toString() !== magic) throw new Error('The file is no prompt injection model.')
  const headerAt = magic.length + 2
  const weightsAt = headerAt + body.readUInt16LE(magic.length)
  const header: Header = JSON.parse(body.subarray(headerAt, weightsAt).toString())
  const pairsAt = weightsAt + buckets
  const isCurrent = header.readerVersion === readerVersion && body.length === pairsAt + pairCount * 4
  if (!isCurrent) throw new Error('The prompt injection model was made for another version of the reader.')
  return {
    bias: header.bias,
    unit: header.unit,
    weights: new Int8Array(Uint8Array.from(body.subarray(weightsAt, pairsAt)).buffer),
    pairs: new Float32Array(Uint8Array.from(body.subarray(pairsAt)).buffer),
    digest: digest.toString('hex').slice(0, 12),
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int8Array | Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
