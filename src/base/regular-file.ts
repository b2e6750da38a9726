import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { messageOf } from './fault.ts'

/** The path that a user named is a folder, a pipe, a device or a link where a plain file is needed. */
export class NotRegularFile extends Error {
  /** Such as `is a folder`. */
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path} ${reason}. Name a regular file.`)
    this.name = 'NotRegularFile'
    this.reason = reason
  }
}

/**
 * The text of a file. A named pipe that nobody writes to would block the command for ever, so it is rejected. Files of the system, such
 * as `/dev/stdin`, are read as they are.
 */
export function readRegularFile(path: string): string {
  if (path.startsWith('/dev/')) return readFileSync(path, 'utf8')
  const file = openRegular(path, constants.O_RDONLY)
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Creates or replaces a file. A symbolic link is not followed, because its target may be any file of the user. */
export function writeRegularFile(path: string, text: string): void {
  const file = openRegular(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW)
  try {
    ftruncateSync(file)
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Opens a file to append to it, which only its owner may read if it is new. */
export const openToAppend = (path: string): number =>
  openRegular(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600)

/** Without O_NONBLOCK the call waits for the other side of a pipe. It has no effect on a regular file. */
function openRegular(path: string, flags: number, mode = 0o666): number {
  const file = openOrExplain(path, flags | constants.O_NONBLOCK, mode)
  const stats = fstatSync(file)
  if (stats.isFile()) return file
  closeSync(file)
  throw new NotRegularFile(path, stats.isDirectory() ? 'is a folder' : 'is not a regular file')
}

function openOrExplain(path: string, flags: number, mode: number): number {
  try {
    return openSync(path, flags, mode)
  } catch (error) {
    if (messageOf(error).startsWith('ELOOP')) throw new NotRegularFile(path, 'is a symbolic link')
    if (messageOf(error).startsWith('ENXIO')) throw new NotRegularFile(path, 'is a pipe or a socket')
    throw error
  }
}
