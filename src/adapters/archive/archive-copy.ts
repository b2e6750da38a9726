import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { eventsSuffix, folderOf, manifestNameOf, manifestSuffix } from '../../domain/audit/archive/archived-object.ts'
import { readManifest } from '../../domain/audit/archive/manifest.ts'
import type { ArchiveCopy, FoundObject } from '../../domain/audit/archive/verify-archive.ts'
import { entriesIn, filesOf } from '../sinks/exported-files.ts'

/** The objects of an organization in a folder: the archive itself, or a copy of the bucket. */
export async function readArchiveCopy(path: string, organizationId: string): Promise<ArchiveCopy> {
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder.`)
  const own = join(path, folderOf(organizationId))
  const files = existsSync(own) ? filesOf(own).map((file) => relative(path, file).replaceAll(sep, '/')) : []
  const names = new Set(files.flatMap(eventsNameOf))
  const objects: FoundObject[] = []
  for (const name of [...names].sort()) objects.push(await readObject(path, name, new Set(files)))
  return { path, organizationId, objects }
}

/** The name of the file with events that a file is, or that it is the manifest of. */
function eventsNameOf(file: string): string[] {
  if (file.endsWith(eventsSuffix)) return [file]
  return file.endsWith(manifestSuffix) ? [file.slice(0, -manifestSuffix.length) + eventsSuffix] : []
}

async function readObject(path: string, name: string, files: ReadonlySet<string>): Promise<FoundObject> {
  const manifest = manifestNameOf(name)
  const file = join(path, name)
  return {
    name,
    manifest: files.has(manifest) ? (readManifest(readFileSync(join(path, manifest), 'utf8')) ?? 'invalid') : undefined,
    sha256: files.has(name) ? await sha256OfFile(file) : undefined,
    entries: () => entriesIn(file),
  }
}

async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
