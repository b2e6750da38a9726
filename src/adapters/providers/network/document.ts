import { StringDecoder } from 'node:string_decoder'
import { afterIo } from '../../../base/after-io.ts'
import type { MaybePromise } from '../../../base/maybe-promise.ts'
import { isFault, type Fault } from '../../../base/fault.ts'
import { nextOf } from '../../../base/pull-stream.ts'
import { createJsonReader, type JsonReader } from '../../../base/json-reader.ts'
import type { LoopSlice } from '../../../base/loop-slice.ts'
import { upstreamFailed, responseTooLong } from '../failures.ts'
import { longText, parseRecord, asRecord, withoutMark, type JsonRecord } from '../json-values.ts'
import type { MemoryLease } from './answer-memory-budget.ts'
import type { Exchange } from './exchange.ts'

export type DocumentLimits = {
  readonly maxBytes: number
  readonly lease: MemoryLease
  /** Shared by all documents that are read concurrently. */
  readonly slice: LoopSlice
}

/** A document with more values would block the event loop for too long when it is serialised again. */
const maxValues = 1_000_000

/**
 * Reads a whole response. A short one has usually arrived together with its headers. A long one is parsed incrementally, so
 * that no single step blocks the event loop.
 */
export function readDocument(exchange: Exchange, limits: DocumentLimits): MaybePromise<JsonRecord> {
  const { maxBytes, lease } = limits
  const body = exchange.bufferedBody()
  if (body === undefined) return readIncrementally(exchange, limits)
  if (body.length > maxBytes) throw responseTooLong('a response', maxBytes)
  lease.reserve(body.length)
  return parseRecord(body.toString('utf8')) ?? throwNoObject()
}

async function readIncrementally(exchange: Exchange, { maxBytes, lease, slice }: DocumentLimits): Promise<JsonRecord> {
  const document = createDocument()
  let byteCount = 0
  for (;;) {
    const read = await nextOf<readonly Buffer[]>(exchange)
    while (slice.isUsedUp()) await afterIo()
    try {
      if (read === undefined) return document.end() ?? throwNoObject()
      for (const chunk of read) {
        byteCount += chunk.length
        if (byteCount > maxBytes) throw responseTooLong('a response', maxBytes)
        lease.reserve(chunk.length)
        document.push(chunk)
      }
    } catch (error) {
      const fault = faultOf(error)
      exchange.cancel(fault)
      throw fault
    }
    if (document.hasStarted()) exchange.markStarted()
  }
}

/** An incremental JSON parser. A document that stays short is parsed by `JSON.parse` at the end. */
function createDocument() {
  const decoder = new StringDecoder('utf8')
  let reader: JsonReader | undefined
  let text = ''
  let hasStarted = false
  const push = (more: string): void => {
    hasStarted ||= /\S/.test(more)
    text += more
    if (reader === undefined && text.length <= longText) return
    const isFirst = reader === undefined
    reader ??= createJsonReader(maxValues)
    reader.push(isFirst ? withoutMark(text) : text)
    text = ''
  }
  return {
    hasStarted: () => hasStarted,
    push: (chunk: Buffer) => push(decoder.write(chunk)),
    end(): JsonRecord | undefined {
      push(decoder.end())
      return reader === undefined ? parseRecord(text) : asRecord(reader.end())
    },
  }
}

function throwNoObject(): never {
  throw noObject()
}

const noObject = (cause?: unknown): Fault =>
  upstreamFailed('The model’s upstream sent a body that is not a JSON object.', cause)

function faultOf(error: unknown): Fault {
  if (isFault(error)) return error
  if (!(error instanceof RangeError)) return noObject(error)
  return upstreamFailed('The model’s upstream sent JSON that is nested too deeply or has too many values.', error)
}
