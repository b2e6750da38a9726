import { createReadStream, openSync, closeSync, readSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { isRecord } from '../../base/record.ts'
import type { SignedCheckpoint } from '../../domain/audit/chain/checkpoint.ts'
import { checkpointIn, isSignedCheckpoint } from '../../domain/audit/chain/checkpoint-event.ts'
import { isUnaltered, readChained, rowOfExport, type ChainedEvent } from '../../domain/audit/chain/chained-event.ts'

/** What one exported event or checkpoint says, and where it stands. */
export type Exported = {
  /** File and line. */
  readonly where: string
  /** Left out where a checkpoint stands on its own, as S3 sinks put it under `_digest/`. */
  readonly row?: ChainedEvent
  readonly checkpoint?: SignedCheckpoint | undefined
  /** False where the copy was changed after it left. One that a sink had to cut cannot be checked and counts as unaltered. */
  readonly isUnaltered: boolean
}

/**
 * Reads what sinks wrote, plain or gzipped, from a file or from every file of a folder in the order of their names: one event on
 * a line, bodies of webhooks, and the checkpoints of S3 sinks.
 */
export async function* readExported(path: string): AsyncGenerator<Exported> {
  for (const file of filesOf(path)) {
    let at = 0
    for await (const line of createInterface({ input: bytesOf(file), crlfDelay: Infinity })) {
      at += 1
      if (line.trim() !== '') yield* inLine(line, `line ${at} of ${file}`)
    }
  }
}

function* inLine(line: string, where: string): Generator<Exported> {
  const value = jsonOf(line)
  if (isRecord(value) && value.type === 'audit.events' && Array.isArray(value.data)) {
    for (const document of value.data) yield eventOf(JSON.stringify(document), where)
  } else if (isRecord(value) && isSignedCheckpoint(value.checkpoint)) {
    yield { where, checkpoint: value.checkpoint, isUnaltered: true }
  } else yield eventOf(line, where)
}

function eventOf(line: string, where: string): Exported {
  const row = rowOfExport(line)
  const document = row && readChained(row.body)
  if (!document) throw new Error(`There is no event in ${where}.`)
  const isCut = readChained(line)?.metadata.is_truncated === true
  return { where, row, checkpoint: checkpointIn(document), isUnaltered: isCut || isUnaltered(document) }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** By the first bytes and not by the name: some tools unpack what they download and leave the name as it was. */
function bytesOf(file: string): NodeJS.ReadableStream {
  const start = Buffer.alloc(2)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, start)
  } finally {
    closeSync(opened)
  }
  const bytes = createReadStream(file)
  return start.equals(gzipStart) ? bytes.pipe(createGunzip()) : bytes
}

const gzipStart = Buffer.from([0x1f, 0x8b])
