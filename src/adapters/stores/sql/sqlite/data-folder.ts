import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemRandom, type Random } from '../../../../base/random.ts'
import { isSqliteBusy } from '../errors.ts'
import { syncPath, writeAtomically } from './durable-file.ts'

/** Another process uses the folder. */
export class DataFolderInUse extends Error {
  readonly dataDir: string
  /** Undefined if the holder has not written its process id yet. */
  readonly pid: number | undefined

  constructor(dataDir: string, pid: number | undefined) {
    const holder = pid === undefined ? 'another process' : `process ${pid}`
    super(`The data folder ${dataDir} is in use by ${holder}. Stop it first, or choose another folder.`)
    this.name = 'DataFolderInUse'
    this.dataDir = dataDir
    this.pid = pid
  }
}

/** Keeps references, because the garbage collector closes an unreferenced database and releases its lock. */
const lockFiles = new Set<DatabaseSync>()

/**
 * Creates the folder if it is missing and locks it for this process until disposed. The kernel holds the lock (on `lock.db`), so it
 * ends with the process in any case; `gatehouse.pid` only names the holder.
 */
export function lockDataFolder(dataDir: string): Disposable {
  try {
    return lock(dataDir)
  } catch (cause) {
    if (cause instanceof DataFolderInUse) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    const fix = 'Give this user write permission, or set GATEHOUSE_DATA_DIR to another folder.'
    throw new Error(`The data folder ${dataDir} cannot be used: ${reason}. ${fix}`, { cause })
  }
}

function lock(dataDir: string): Disposable {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const pidFile = join(dataDir, 'gatehouse.pid')
  const holder = readPid(pidFile)
  if (holder !== undefined && hasLockFileOpen(holder, dataDir)) throw new DataFolderInUse(dataDir, holder)
  const file = new DatabaseSync(join(dataDir, lockFileName))
  try {
    file.exec('pragma journal_mode = memory') // nothing is ever written
    file.exec('begin exclusive')
    writeAtomically(pidFile, `${process.pid}\n`)
  } catch (error) {
    file.close()
    throw isSqliteBusy(error) ? new DataFolderInUse(dataDir, readPid(pidFile)) : error
  }
  lockFiles.add(file)
  return {
    [Symbol.dispose]() {
      if (!lockFiles.delete(file)) return
      rmSync(pidFile, { force: true })
      file.close()
    },
  }
}

const lockFileName = 'lock.db'

/**
 * Whether a process has the lock file open, also if somebody removed the file: a new file would not be locked. Linux lists the open
 * files of a process; elsewhere the answer is false, and only the lock itself counts.
 */
function hasLockFileOpen(pid: number, dataDir: string): boolean {
  const folder = `/proc/${pid}/fd`
  try {
    const path = join(realpathSync(dataDir), lockFileName)
    return readdirSync(folder).some((name) => [path, `${path} (deleted)`].includes(targetOf(join(folder, name))))
  } catch {
    return false
  }
}

/** Empty if the file was closed meanwhile. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}

/** Files of the folder that its database needs. */
export const secretFileNames: readonly string[] = ['secret', 'secret.previous']

export const databaseFileName = 'gatehouse.db'

export const hasDatabase = (dataDir: string): boolean => existsSync(join(dataDir, databaseFileName))

/** The folder has a database, but the server secret of the database is neither in the folder nor configured. */
export class SecretMissing extends Error {
  constructor(dataDir: string) {
    super(
      `There is a database in ${dataDir} but no server secret: set GATEHOUSE_SECRET, or restore the file ${join(dataDir, 'secret')}.`,
    )
    this.name = 'SecretMissing'
  }
}

/**
 * The server secret, 32 bytes in base64url, stored in the folder. It is created before the database and never after it, because
 * no key of the database could be verified with another secret. Call it only while the folder is locked, because two processes
 * with different secrets could not read each other's keys.
 */
export function readOrCreateSecret(dataDir: string, random: Random = systemRandom): string {
  const path = join(dataDir, 'secret')
  if (!existsSync(path)) {
    if (hasDatabase(dataDir)) throw new SecretMissing(dataDir)
    writeAtomically(path, newSecret(random))
  }
  return readSecretFile(path)
}

/** The previous secret, during a rotation. */
export function readPreviousSecret(dataDir: string): string | undefined {
  const path = join(dataDir, 'secret.previous')
  return existsSync(path) ? readSecretFile(path) : undefined
}

/** Stores the current secret as the previous one, then creates a new one. After a crash in between both files are equal. */
export function replaceSecret(dataDir: string, random: Random): void {
  const path = join(dataDir, 'secret')
  writeAtomically(join(dataDir, 'secret.previous'), `${readSecretFile(path)}\n`)
  writeAtomically(path, newSecret(random))
}

export function removePreviousSecret(dataDir: string): void {
  rmSync(join(dataDir, 'secret.previous'), { force: true })
  syncPath(dataDir)
}

const newSecret = (random: Random): string => `${Buffer.from(random.bytes(32)).toString('base64url')}\n`

function readSecretFile(path: string): string {
  const secret = readFileSync(path, 'utf8').trim()
  if (/^[\w-]{43}$/.test(secret)) return secret
  throw new Error(`${path} does not contain 32 bytes in base64url; restore it from a backup.`)
}

function readPid(pidFile: string): number | undefined {
  const pid = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, 'utf8'), 10) : Number.NaN
  return Number.isNaN(pid) ? undefined : pid
}
