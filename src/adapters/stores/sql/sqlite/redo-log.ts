import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { DatabaseError, type Value } from '../database.ts'
import { syncPath } from './durable-file.ts'

/** A statement that changed rows, and how many. */
export type RedoStatement = { readonly sql: string; readonly params: readonly Value[]; readonly changed: number }

/** The statements of one group. Sequences of a log are 1, 2, 3 … without a gap, also after the log starts over. */
export type RedoRecord = { readonly sequence: number; readonly statements: readonly RedoStatement[] }

/** The last record whose changes are committed to the database. */
export type RedoPosition = { readonly logId: number; readonly sequence: number }

/**
 * Keeps groups durable until the database commits them. A record is written with one call and one fsync. When the database has
 * committed all records, the log starts over at the beginning of its file, so that the file keeps its size.
 */
export type RedoLog = {
  /** The sequence of the last record. */
  sequence(): number
  /** Bytes of the records since the log started over. */
  size(): number
  /** Returns once the record is on the disk. After a failure the log must start over before the next record. */
  append(statements: readonly RedoStatement[]): void
  /** The records since the log started over. */
  records(): RedoRecord[]
  startOver(): void
  close(): void
}

export type RedoFile = {
  write(bytes: Uint8Array, position: number): void
  /** Returns once all writes are on the disk. */
  sync(): void
  read(): Buffer
  truncate(bytes: number): void
  close(): void
}

/** Length, checksum, id of the log, sequence. */
const headerBytes = 24
const emptyHeader = ' '.repeat(headerBytes)
/** A file that one large group has extended beyond this size is cut when the log starts over. */
const keptBytes = 8 * 1024 * 1024

/** Creates a log without records. What the file contains is ignored, because it has another id. */
export function createRedoLog(file: RedoFile, logId: number): RedoLog {
  const indexes = new Map<string, number>()
  let sequence = 0
  let count = 0
  let end = 0
  let isBroken = false

  /** Each text is written once, and afterwards named by its index. */
  const entryOf = ({ sql, params, changed }: RedoStatement): Entry => {
    const index = indexes.get(sql)
    if (index === undefined) indexes.set(sql, indexes.size)
    return [index ?? sql, changed, areJson(params) ? params : params.map(toJson)]
  }

  return {
    sequence: () => sequence,
    size: () => end,
    append(statements) {
      if (isBroken) throw new Error('the redo log has an incomplete record')
      sequence++
      const record = encodeRecord({ logId, sequence }, JSON.stringify(statements.map(entryOf)))
      try {
        file.write(record, end)
        file.sync()
      } catch (error) {
        isBroken = true
        discard(file, end)
        throw error
      }
      count++
      end += record.length
    },
    records() {
      const records = readRecords(file.read().subarray(0, end), logId)
      if (records.length !== count) throw new DatabaseError('unavailable', 'the redo log cannot be read back')
      return records
    },
    startOver() {
      if (isBroken || end > keptBytes) discard(file, 0)
      indexes.clear()
      count = 0
      end = 0
      isBroken = false
    },
    close: () => file.close(),
  }
}

/** An index of an earlier text, or the text; the number of changed rows; the parameters. */
type Entry = readonly [text: string | number, changed: number, params: readonly JsonValue[]]

type JsonValue = string | number | null | { readonly integer: string } | { readonly bytes: string }

const areJson = (values: readonly Value[]): values is readonly (string | number | null)[] =>
  values.every((value) => value === null || typeof value === 'string' || typeof value === 'number')

function toJson(value: Value): JsonValue {
  if (typeof value === 'bigint') return { integer: String(value) }
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}

function fromJson(value: JsonValue): Value {
  if (value === null || typeof value !== 'object') return value
  return 'integer' in value ? BigInt(value.integer) : new Uint8Array(Buffer.from(value.bytes, 'base64'))
}

/** A record that was not acknowledged must not be found after a crash. If the disk fails here too, nothing more can be done. */
function discard(file: RedoFile, end: number): void {
  try {
    file.truncate(end)
  } catch {}
}

function encodeRecord({ logId, sequence }: RedoPosition, body: string): Buffer {
  const record = Buffer.from(emptyHeader + body)
  record.writeUInt32LE(record.length - headerBytes, 0)
  record.writeDoubleLE(logId, 8)
  record.writeDoubleLE(sequence, 16)
  record.writeUInt32LE(crc32(record.subarray(8)), 4)
  return record
}

/**
 * The records of one log, in order. Reading ends at the first record that is incomplete, damaged or of another log, and at one
 * that remained from before the log started over, whose sequence is lower.
 */
export function readRecords(bytes: Buffer, logId: number): RedoRecord[] {
  const records: RedoRecord[] = []
  const texts: string[] = []
  for (let at = 0; at + headerBytes <= bytes.length;) {
    const end = at + headerBytes + bytes.readUInt32LE(at)
    if (end > bytes.length || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) break
    const sequence = bytes.readDoubleLE(at + 16)
    const last = records.at(-1)
    if (bytes.readDoubleLE(at + 8) !== logId || (last && sequence !== last.sequence + 1)) break
    const entries = JSON.parse(bytes.toString('utf8', at + headerBytes, end)) as Entry[]
    records.push({ sequence, statements: entries.map((entry) => statementOf(entry, texts)) })
    at = end
  }
  return records
}

function statementOf([text, changed, params]: Entry, texts: string[]): RedoStatement {
  if (typeof text === 'string') texts.push(text)
  const sql = typeof text === 'string' ? text : texts[text]
  if (sql === undefined) throw new Error('the redo log names a statement that it does not contain')
  return { sql, params: params.map(fromJson), changed }
}

export const redoPathOf = (databasePath: string): string => `${databasePath}-redo`

/** The bytes of a database's redo log; empty if there is no file. */
export const readRedoFile = (databasePath: string): Buffer => readOrEmpty(redoPathOf(databasePath))

export function removeRedoFile(databasePath: string): void {
  rmSync(redoPathOf(databasePath), { force: true })
}

export function openRedoFile(databasePath: string): RedoFile {
  const path = redoPathOf(databasePath)
  closeSync(openSync(path, 'a', 0o600)) // creates it, and keeps what it contains
  syncPath(dirname(path)) // makes its name durable
  const descriptor = openSync(path, 'r+')
  return {
    write(bytes, position) {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, position + at)
    },
    sync: () => fdatasyncSync(descriptor),
    read: () => readOrEmpty(path),
    truncate: (bytes) => ftruncateSync(descriptor, bytes),
    close: () => closeSync(descriptor),
  }
}

function readOrEmpty(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
