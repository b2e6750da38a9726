import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemRandom, type Random } from '../../../../base/random.ts'
import { isSqliteBusy } from '../errors.ts'
import { syncPath, writeAtomically } from './durable-file.ts'

/** Another process works on the folder. */
export class DataFolderInUse extends Error {
  readonly dataDir: string
  /** Undefined when the holder has not yet written it down. */
  readonly pid: number | undefined

  constructor(dataDir: string, pid: number | undefined) {
    const holder = pid === undefined ? 'another process' : `process ${pid}`
    super(`The data folder ${dataDir} is in use by ${holder}. Stop it first, or choose another folder.`)
    this.name = 'DataFolderInUse'
    this.dataDir = dataDir
    this.pid = pid
  }
}

/** A database that nobody refers to is closed by the garbage collector, and its lock would go with it. */
const held = new Set<DatabaseSync>()

/**
 * Makes the folder where it is missing and takes it for this process alone, until disposed. The lock is the kernel's
 * (on `lock.db`), so that it ends with the process however that ends; `gatehouse.pid` only names the holder.
 */
export function lockDataFolder(dataDir: string): Disposable {
  try {
    return lock(dataDir)
  } catch (cause) {
    if (cause instanceof DataFolderInUse) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    const mend = 'Let this user write it, or set GATEHOUSE_DATA_DIR to another.'
    throw new Error(`The data folder ${dataDir} cannot be used: ${reason}. ${mend}`, { cause })
  }
}

function lock(dataDir: string): Disposable {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const pidFile = join(dataDir, 'gatehouse.pid')
  const file = new DatabaseSync(join(dataDir, 'lock.db'))
  try {
    file.exec('pragma journal_mode = memory') // nothing is ever written
    file.exec('begin exclusive')
    writeAtomically(pidFile, `${process.pid}\n`)
  } catch (error) {
    file.close()
    throw isSqliteBusy(error) ? new DataFolderInUse(dataDir, readPid(pidFile)) : error
  }
  held.add(file)
  return {
    [Symbol.dispose]() {
      if (!held.delete(file)) return
      rmSync(pidFile, { force: true })
      file.close()
    },
  }
}

/** Files of the folder without which its database cannot be used. */
export const secretFileNames: readonly string[] = ['secret', 'secret.previous']

/**
 * The server's secret, 32 bytes in base64url, kept in the folder and made on first use. Call it while the folder is
 * locked: two processes that made one each would not read one another's keys.
 */
export function readOrMakeSecret(dataDir: string, random: Random = systemRandom): string {
  const path = join(dataDir, 'secret')
  if (!existsSync(path)) writeAtomically(path, newSecret(random))
  return readSecretFile(path)
}

/** The secret before the present one, while a rotation is under way. */
export function readPreviousSecret(dataDir: string): string | undefined {
  const path = join(dataDir, 'secret.previous')
  return existsSync(path) ? readSecretFile(path) : undefined
}

/** Keeps the present secret as the previous one, then makes a new one. After a crash in between both files hold the same. */
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
  throw new Error(`${path} does not hold 32 bytes in base64url; restore it from a backup.`)
}

function readPid(pidFile: string): number | undefined {
  const pid = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, 'utf8'), 10) : Number.NaN
  return Number.isNaN(pid) ? undefined : pid
}
