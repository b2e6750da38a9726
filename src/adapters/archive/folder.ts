import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { Ids } from '../../base/ids.ts'
import { isRecord } from '../../base/record.ts'
import type { ArchiveTarget } from '../../domain/audit/archive/target.ts'

/** Objects as files of a folder, which must exist: an archive that is not mounted must not be written elsewhere. */
export const folderArchive = (folder: string, ids: Ids): ArchiveTarget => ({
  kind: 'folder',
  async create(name, bytes) {
    const path = pathIn(folder, name)
    await assertFolder(folder)
    if (await exists(path)) return 'exists'
    await makeFolders(folder, dirname(path))
    // A linked file is complete, and a link does not replace an existing file.
    const temporary = join(dirname(path), `.${ids('tmp')}`)
    try {
      await writeDurably(temporary, bytes)
      await link(temporary, path)
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return 'exists'
      throw error
    } finally {
      await unlink(temporary).catch(() => {})
    }
    await syncFolder(dirname(path))
    return 'created'
  },
  read: (name) => readFile(pathIn(folder, name)),
})

/** Throws for a name that leads out of the folder. */
function pathIn(folder: string, name: string): string {
  const path = join(folder, name)
  const isInside = path.startsWith(join(folder, sep)) && !name.split('/').some((part) => part === '' || part === '..')
  if (!isInside || name.includes('\0')) throw new Error(`${JSON.stringify(name)} is not a name of an archived object`)
  return path
}

async function assertFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined)
  if (!stats?.isDirectory()) throw new Error(`audit.archive.folder: there is no folder ${folder}`)
}

/** A new folder is durable only when the folder above it is synced. */
async function makeFolders(root: string, path: string): Promise<void> {
  const created = await mkdir(path, { recursive: true, mode: 0o700 })
  if (created === undefined) return
  for (let at = path; at.length >= root.length && at !== dirname(at); at = dirname(at)) await syncFolder(at)
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(bytes)
  await file.sync()
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    },
  )

const codeOf = (error: unknown): unknown => (isRecord(error) ? error.code : undefined)
