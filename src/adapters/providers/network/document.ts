import { StringDecoder } from 'node:string_decoder'
import { afterIo } from '../../../base/after-io.ts'
import type { MaybePromise } from '../../../base/maybe-promise.ts'
import { isFault, type Fault } from '../../../base/fault.ts'
import { nextOf } from '../../../base/pull-stream.ts'
import { createJsonReader, type JsonReader } from '../../../base/json-reader.ts'
import type { LoopSlice } from '../../../base/loop-slice.ts'
import { brokenAnswer, tooLong } from '../failures.ts'
import { longText, parseRecord, asRecord, withoutMark, type JsonRecord } from '../json-values.ts'
import type { MemoryLease } from './answer-memory-budget.ts'
import type { Exchange } from './exchange.ts'

export type DocumentLimits = {
  readonly maxBytes: number
  readonly lease: MemoryLease
  /** Shared by the documents that are read at the same time. */
  readonly slice: LoopSlice
}

/** So many objects, lists, texts and numbers can be written again without stopping others for long. */
const maxValues = 1_000_000

/**
 * A whole answer. A short one mostly comes with its head. A long one is parsed as it comes, so that no single step stops
 * the service.
 */
export function readDocument(exchange: Exchange, limits: DocumentLimits): MaybePromise<JsonRecord> {
  const { maxBytes, lease } = limits
  const rest = exchange.rest()
  if (rest === undefined) return readOn(exchange, limits)
  if (rest.length > maxBytes) throw tooLong('an answer', maxBytes)
  lease.take(rest.length)
  return parseRecord(rest.toString('utf8')) ?? refuse()
}

async function readOn(exchange: Exchange, { maxBytes, lease, slice }: DocumentLimits): Promise<JsonRecord> {
  const document = createDocument()
  let byteCount = 0
  for (;;) {
    const read = await nextOf<readonly Buffer[]>(exchange)
    while (slice.isUsedUp()) await afterIo()
    try {
      if (read === undefined) return document.end() ?? refuse()
      for (const chunk of read) {
        byteCount += chunk.length
        if (byteCount > maxBytes) throw tooLong('an answer', maxBytes)
        lease.take(chunk.length)
        document.push(chunk)
      }
    } catch (error) {
      const fault = faultOf(error)
      exchange.cancel(fault)
      throw fault
    }
    if (document.hasBegun()) exchange.begun()
  }
}

/** JSON whose bytes come in chunks. One that stays short is left to the native parser. */
function createDocument() {
  const decoder = new StringDecoder('utf8')
  let reader: JsonReader | undefined
  let text = ''
  let hasBegun = false
  const push = (more: string): void => {
    hasBegun ||= /\S/.test(more)
    text += more
    if (reader === undefined && text.length <= longText) return
    const isFirst = reader === undefined
    reader ??= createJsonReader(maxValues)
    reader.push(isFirst ? withoutMark(text) : text)
    text = ''
  }
  return {
    hasBegun: () => hasBegun,
    push: (chunk: Buffer) => push(decoder.write(chunk)),
    end(): JsonRecord | undefined {
      push(decoder.end())
      return reader === undefined ? parseRecord(text) : asRecord(reader.end())
    },
  }
}

function refuse(): never {
  throw noObject()
}

const noObject = (cause?: unknown): Fault =>
  brokenAnswer('The model’s upstream sent something that is no JSON object.', cause)

function faultOf(error: unknown): Fault {
  if (isFault(error)) return error
  if (!(error instanceof RangeError)) return noObject(error)
  return brokenAnswer('The model’s upstream sent JSON that is nested too deeply or has too many values.', error)
}
