import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAuditSpool } from '../../adapters/stores/sql/audit/spool.ts'
import { createChargeSpool } from '../../adapters/stores/sql/credits/spool.ts'
import { createResponseSpool } from '../../adapters/stores/sql/response-spool.ts'
import { moveSpool, type Spool } from '../../base/spool.ts'
import { spoolFolder, type Workers } from '../workers.ts'

/** The folders in the data folder that have had spools: of a single process, and of workers. */
export const knownSpoolFolders = (dataDir: string): string[] => [
  dataDir,
  ...(existsSync(dataDir) ? readdirSync(dataDir) : [])
    .filter((name) => /^worker-\d+$/.test(name))
    .map((name) => join(dataDir, name)),
]

/** The folders that the processes of this configuration use. */
export const usedSpoolFolders = (dataDir: string, workerCount: number): string[] =>
  workerCount === 1
    ? [dataDir]
    : Array.from({ length: workerCount }, (_, at) => spoolFolder(dataDir, { number: at + 1 }))

/**
 * Takes over what processes left that this configuration does not start, because it has fewer workers than the one before, or one
 * process instead of workers. Only the first process does it. It leaves the emptied files, because a process that is still
 * stopping may use them.
 */
export async function takeOverSpools(
  dataDir: string,
  workers: Pick<Workers, 'number' | 'count'> | undefined,
): Promise<number> {
  if (workers !== undefined && workers.number !== 1) return 0
  const used = usedSpoolFolders(dataDir, workers?.count ?? 1)
  const left = knownSpoolFolders(dataDir).filter((folder) => !used.includes(folder))
  let moved = 0
  for (const from of left) moved += await moveAll(from, spoolFolder(dataDir, workers))
  return moved
}

const moveAll = async (from: string, to: string): Promise<number> =>
  (await moveOne(createChargeSpool, [join(from, 'spool'), join(to, 'spool')])) +
  (await moveOne(createAuditSpool, [join(from, 'audit-spool'), join(to, 'audit-spool')])) +
  (await moveOne(createResponseSpool, [join(from, 'response-spool'), join(to, 'response-spool')]))

async function moveOne<T>(open: (folder: string) => Spool<T>, [from, to]: readonly [string, string]): Promise<number> {
  if (!existsSync(from)) return 0
  await using source = open(from)
  await using target = open(to)
  return await moveSpool(source, target)
}
