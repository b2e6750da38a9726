import { createReadStream, openSync, closeSync, readSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { isRecord } from '../../base/record.ts'
import { readManifest } from '../../domain/audit/archive/manifest.ts'
import { checkpointIn, isSignedCheckpoint } from '../../domain/audit/chain/checkpoint-event.ts'
import type { SignedCheckpoint } from '../../domain/audit/chain/checkpoint.ts'
import { isUnaltered, readChained, rowOfExport } from '../../domain/audit/chain/chained-event.ts'
import type { ExportedEntry } from '../../domain/audit/verify-export.ts'

/**
 * Reads what sinks and the archive wrote, plain or compressed, from a file or from every file of a folder in the order of their
 * names. A line is one event, the body of a webhook, a checkpoint of an S3 sink, or a manifest of the archive. Of a page with a proof,
 * the lines with its events and signatures are read.
 */
export async function* readExported(path: string): AsyncGenerator<ExportedEntry> {
  for (const file of filesOf(path)) yield* entriesIn(file)
}

/** The events and checkpoints of one file. */
export async function* entriesIn(file: string): AsyncGenerator<ExportedEntry> {
  let at = 0
  let isPage = false
  let isInData = false
  for await (const line of createInterface({ input: bytesOf(file), crlfDelay: Infinity })) {
    at += 1
    isPage ||= at === 1 && line === '<!doctype html>'
    if (isPage && line === '</script>') isInData = false
    if (line.trim() !== '' && (!isPage || isInData)) yield* inLine(line, `line ${at} of ${file}`)
    if (isPage && line.startsWith('<script type="application/')) isInData = true
  }
}

function* inLine(line: string, where: string): Generator<ExportedEntry> {
  const value = jsonOf(line)
  if (isRecord(value) && value.type === 'audit.events' && Array.isArray(value.data)) {
    for (const document of value.data) yield eventOf(JSON.stringify(document), where)
  } else if (isRecord(value) && isSignedCheckpoint(value.checkpoint)) {
    yield { where, checkpoint: value.checkpoint, isUnaltered: true }
  } else if (isRecord(value) && value.type !== 'audit.proof' && Array.isArray(value.checkpoints)) {
    for (const checkpoint of readManifest(line)?.checkpoints ?? []) yield { where, checkpoint, isUnaltered: true }
  } else if (isRecord(value) && value.type === 'audit.proof') yield* inProof(value, where)
  else yield eventOf(line, where)
}

function* inProof({ checkpoints, handovers }: Record<string, unknown>, where: string): Generator<ExportedEntry> {
  for (const checkpoint of signedIn(checkpoints)) yield { where, checkpoint, isUnaltered: true }
  for (const handover of signedIn(handovers)) yield { where, handover, isUnaltered: true }
}

const signedIn = (value: unknown): readonly SignedCheckpoint[] =>
  Array.isArray(value) ? value.filter(isSignedCheckpoint) : []

function eventOf(line: string, where: string): ExportedEntry {
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

/** The file, or all files of the folder. Hidden files are left out: an interrupted run of the archive leaves one. */
export function filesOf(path: string): string[] {
  const stats = statSync(path)
  if (stats.isFile()) return [path]
  if (!stats.isDirectory()) throw new Error(`${path} is neither a regular file nor a folder.`)
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** Detects compression by the first bytes, because some tools decompress a download and keep its name. */
function bytesOf(file: string): NodeJS.ReadableStream {
  const start = Buffer.alloc(4)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, start)
  } finally {
    closeSync(opened)
  }
  const bytes = createReadStream(file)
  if (start.equals(zstdStart)) return bytes.pipe(createZstdDecompress())
  return start.subarray(0, 2).equals(gzipStart) ? bytes.pipe(createGunzip()) : bytes
}

const gzipStart = Buffer.from([0x1f, 0x8b])
const zstdStart = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
