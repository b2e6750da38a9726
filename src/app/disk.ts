import { statfs } from 'node:fs/promises'

/** A step of the embedded database, or what waits for PostgreSQL, may need this much. */
const leastFreeBytes = 256 * 1024

/** What is wrong with the disk that this folder is on. A folder that nothing was kept in yet may not be there. */
export async function diskProblem(folder: string): Promise<string | undefined> {
  const disk = await statfs(folder).catch(() => undefined)
  const isFull = disk !== undefined && disk.bavail * disk.bsize < leastFreeBytes
  return isFull ? 'The disk of the data folder is full.' : undefined
}
