import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSignedCheckpoint } from '../../domain/audit/chain/checkpoint-event.ts'
import type { SignedCheckpoint } from '../../domain/audit/chain/checkpoint.ts'
import type { LastCheckpoints } from './sql/audit/checkpoints.ts'

/** The folder in the data folder; one file for each organization. */
export const checkpointFolderName = 'checkpoints'

/**
 * The last checkpoint that this node signed for each chain, outside of the database. So a database that was rewritten while no server
 * ran is not signed. A file that cannot be read counts as none: the chain is then signed, and late if nobody else signed it in time.
 */
export function createCheckpointFiles(dataDir: string): LastCheckpoints {
  const folder = join(dataDir, checkpointFolderName)
  const cache = new Map<string, SignedCheckpoint>()

  async function read(organizationId: string): Promise<SignedCheckpoint | undefined> {
    if (!isFileName(organizationId)) return undefined
    try {
      const value: unknown = JSON.parse(await readFile(pathOf(organizationId), 'utf8'))
      return isSignedCheckpoint(value) ? value : undefined
    } catch {
      return undefined
    }
  }

  /** The file before stays if the disk is full: it is older, and still shows a log that was rewritten before it. */
  async function write(path: string, checkpoint: SignedCheckpoint): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const temporary = `${path}.${process.pid}.tmp`
    await writeFile(temporary, JSON.stringify(checkpoint), { mode: 0o600 })
    await rename(temporary, path)
  }

  const pathOf = (organizationId: string): string => join(folder, `${organizationId}.json`)

  return {
    async get(organizationId) {
      const known = cache.get(organizationId) ?? (await read(organizationId))
      if (known) cache.set(organizationId, known)
      return known
    },
    async set(organizationId, checkpoint) {
      cache.set(organizationId, checkpoint)
      if (isFileName(organizationId)) await write(pathOf(organizationId), checkpoint).catch(() => undefined)
    },
  }
}

const isFileName = (organizationId: string): boolean => /^[\w-]{1,100}$/.test(organizationId)
