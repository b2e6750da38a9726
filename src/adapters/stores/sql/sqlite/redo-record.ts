import { crc32 } from 'node:zlib'
import type { Value } from '../database.ts'

/** A statement that changed rows, and how many. */
export type RedoStatement = { readonly sql: string; readonly params: readonly Value[]; readonly changed: number }

/** The statements of one group. */
export type RedoRecord = { readonly sequence: number; readonly statements: readonly RedoStatement[] }

/** The log that a record belongs to, and its place in the log. */
export type RedoPosition = { readonly logId: number; readonly sequence: number }

/** A record on its way to the file. */
export type RecordHeader = RedoPosition & {
  /** The last record that was on the disk when this one was written. */
  readonly durable: number
}

/** Length of the body, checksum, id of the log, sequence, last durable sequence. */
const headerBytes = 32

/** Logs of version 0.2 have lower ids. Their records do not tell which ones were durable, and their files have no first block. */
const firstLogId = 2 ** 48
const oldHeaderBytes = 24

/** `random` is below 2 ** 48. */
export const logIdOf = (random: number): number => firstLogId + random

export const namesItsFile = (logId: number): boolean => logId >= firstLogId

/** The first byte of a value. */
const kinds = { null: 0, text: 1, float: 2, integer: 3, bytes: 4 } as const

/** In place of an index: the text of the statement follows. */
const newText = 0xffff_ffff

/** Enough for the records of most groups. */
const usualBytes = 256 * 1024

/** Encodes records one after the other into one buffer: a record is valid until the next one. */
export function createRecordEncoder() {
  const indexes = new Map<string, number>()
  let buffer = Buffer.allocUnsafe(usualBytes)
  let at = 0

  function reserve(bytes: number): void {
    if (at + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(2 * (at + bytes))
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }

  function putText(text: string): void {
    reserve(4 + 3 * text.length) // a UTF-16 code unit needs at most three bytes
    const bytes = buffer.write(text, at + 4)
    buffer.writeUInt32LE(bytes, at)
    at += 4 + bytes
  }

  function putValue(value: Value): void {
    reserve(9)
    if (value === null) buffer[at++] = kinds.null
    else if (typeof value === 'string') {
      buffer[at++] = kinds.text
      putText(value)
    } else if (typeof value === 'number') {
      buffer[at] = kinds.float
      at = buffer.writeDoubleLE(value, at + 1)
    } else if (typeof value === 'bigint') {
      buffer[at++] = kinds.integer
      putText(String(value))
    } else {
      buffer[at++] = kinds.bytes
      putText(Buffer.from(value).toString('latin1'))
    }
  }

  function putStatement({ sql, params, changed }: RedoStatement): void {
    reserve(12)
    const index = indexes.get(sql)
    at = buffer.writeUInt32LE(index ?? newText, at)
    at = buffer.writeUInt32LE(changed, at)
    at = buffer.writeUInt32LE(params.length, at)
    if (index === undefined) {
      indexes.set(sql, indexes.size)
      putText(sql)
    }
    for (const value of params) putValue(value)
  }

  return {
    encode({ logId, sequence, durable }: RecordHeader, statements: readonly RedoStatement[]): Buffer {
      at = headerBytes
      for (const statement of statements) putStatement(statement)
      const record = buffer.subarray(0, at)
      record.writeUInt32LE(at - headerBytes, 0)
      record.writeDoubleLE(logId, 8)
      record.writeDoubleLE(sequence, 16)
      record.writeDoubleLE(durable, 24)
      record.writeUInt32LE(crc32(record.subarray(8)), 4)
      return record
    },
    /** The next record will be the first of the file, so the texts of statements are written again. */
    startOver() {
      indexes.clear()
      if (buffer.length > usualBytes) buffer = Buffer.allocUnsafe(usualBytes)
    },
  }
}

/**
 * The records of one log, in order. Reading ends at the first record that is incomplete, damaged or of another log, and at one
 * that remained from before the log started over, whose sequence is lower.
 */
export function readRecords(bytes: Buffer, logId: number): RedoRecord[] {
  const records: RedoRecord[] = []
  const texts: string[] = []
  for (let at = 0; ;) {
    const found = readHeader(bytes, at, logId)
    const last = records.at(-1)
    if (!found || (last && found.sequence !== last.sequence + 1)) return records
    records.push({ sequence: found.sequence, statements: readStatements(found.body, texts) })
    at = found.end
  }
}

/**
 * The last record that was written after the record `sequence` was on the disk, anywhere in the file. If there is one, the record
 * `sequence` must be there: where it cannot be read, the file is damaged. A record that a crash interrupted has no such successor.
 */
export function lastWrittenAfter(sequence: number, bytes: Buffer, logId: number): number | undefined {
  const name = Buffer.alloc(8)
  name.writeDoubleLE(logId)
  let last: number | undefined
  for (let at = bytes.indexOf(name, 8); at !== -1; at = bytes.indexOf(name, at + 1)) {
    const found = readHeader(bytes, at - 8, logId)
    if (found && found.durable >= sequence) last = Math.max(last ?? 0, found.sequence)
  }
  return last
}

type FoundRecord = {
  readonly sequence: number
  readonly durable: number
  readonly body: Buffer
  readonly end: number
}

/** Undefined unless a complete record of the log begins there. */
function readHeader(bytes: Buffer, at: number, logId: number): FoundRecord | undefined {
  const isNew = namesItsFile(logId)
  const start = at + (isNew ? headerBytes : oldHeaderBytes)
  if (start > bytes.length) return undefined
  const end = start + bytes.readUInt32LE(at)
  if (end > bytes.length || bytes.readDoubleLE(at + 8) !== logId) return undefined
  if (crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) return undefined
  const durable = isNew ? bytes.readDoubleLE(at + 24) : 0
  return { sequence: bytes.readDoubleLE(at + 16), durable, body: bytes.subarray(start, end), end }
}

/** `texts` are those of all statements so far, in the order of their first use. */
function readStatements(body: Buffer, texts: string[]): RedoStatement[] {
  const statements: RedoStatement[] = []
  let at = 0

  function readText(): string {
    const start = at + 4
    at = start + body.readUInt32LE(at)
    return body.toString('utf8', start, at)
  }

  function readValue(): Value {
    const kind = body[at++]
    if (kind === kinds.null) return null
    if (kind === kinds.text) return readText()
    if (kind === kinds.integer) return BigInt(readText())
    if (kind === kinds.bytes) return new Uint8Array(Buffer.from(readText(), 'latin1'))
    at += 8
    return body.readDoubleLE(at - 8)
  }

  while (at < body.length) {
    const index = body.readUInt32LE(at)
    const changed = body.readUInt32LE(at + 4)
    const count = body.readUInt32LE(at + 8)
    at += 12
    if (index === newText) texts.push(readText())
    const sql = texts[index === newText ? texts.length - 1 : index]
    if (sql === undefined) throw new Error('the redo log names a statement that it does not contain')
    statements.push({ sql, changed, params: Array.from({ length: count }, readValue) })
  }
  return statements
}
