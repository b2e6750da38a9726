import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The kernel limits the length of socket paths: the socket of a deep data folder is in the folder for temporary files. */
const maxPathBytes = 100

export function controlSocketPath(dataDir: string): string {
  const inFolder = join(resolve(dataDir), 'control.sock')
  if (Buffer.byteLength(inFolder) <= maxPathBytes) return inFolder
  return join(tmpdir(), `gatehouse-${createHash('sha256').update(inFolder).digest('hex').slice(0, 16)}.sock`)
}
