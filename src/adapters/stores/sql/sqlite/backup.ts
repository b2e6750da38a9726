import { accessSync, constants, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { checkpointFolderName } from '../../checkpoint-files.ts'
import { databaseFileName, secretFileNames } from './data-folder.ts'
import { openConnection } from './connection.ts'
import type { Migration } from '../migrate.ts'
import { readRedoFiles, redoPathsOf } from './redo-file.ts'
import { damagedLog, redoMissing, removePosition } from './redo-recovery.ts'
import { foreignObject } from './schema.ts'
import { syncPath, writeAtomically } from './durable-file.ts'

/** Metadata of a backup file, stored in an additional table. */
export type BackupManifest = {
  readonly createdAtMs: number
  /** Version of the program that created it. */
  readonly version: string
  /** Identifies the server secret of the data without revealing it. */
  readonly secretCheck: string
  /** Contents of the data folder's secret files by name; empty if the secret is configured elsewhere. */
  readonly secretFiles: Readonly<Record<string, string>>
}

/** A summary of a backup, for the person who restores it. */
export type BackupContents = {
  readonly manifest: BackupManifest
  readonly lastMigration: number
  readonly organizations: number
  readonly events: number
}

/** More pages than a database can have, so that the copy is one step and a busy writer cannot make it start over. */
const allPages = 2 ** 31 - 1

/**
 * Copies the database of a data folder into one file while a server uses it. The copy is a snapshot with every commit that was
 * acknowledged before the call. The file appears under its name only when it is complete and was read back.
 */
export async function writeBackup(dataDir: string, file: string, manifest: BackupManifest): Promise<BackupContents> {
  const source = join(dataDir, databaseFileName)
  if (!existsSync(source)) throw new Error(`There is no database in ${dataDir} to back up.`)
  if (existsSync(file)) throw fileExists(file)
  assertWritable(file)
  const partial = `${file}.${process.pid}.partial`
  try {
    await copyWithRedoLog(source, partial)
    addManifest(partial, manifest)
    const contents = readBackup(partial)
    syncPath(partial)
    publish(partial, file)
    return contents
  } finally {
    rmSync(partial, { force: true })
  }
}

/** A running server may write the log while it is read, which looks like damage once, but not three times. */
const copyAttempts = 3

/** Copies the database and adds what is acknowledged and not committed. The copy needs no redo log, as after a regular stop. */
async function copyWithRedoLog(source: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    rmSync(target, { force: true })
    const findLog = readRedoFiles(source) // before the copy, because a record that is missing here was committed before
    await copyDatabase(source, target)
    const loss = change(target, (database) => {
      database.exec('begin')
      const connection = openConnection(database)
      const lost = redoMissing(connection, findLog)
      if (lost === undefined) connection.run({ sql: removePosition })
      database.exec('commit')
      return lost
    })
    if (loss === undefined) return
    if (attempt === copyAttempts) throw damagedLog(source, loss)
  }
}

/** Reads every page of a backup; throws for a file that is damaged or not a backup. */
export function readBackup(file: string): BackupContents {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new Error(`There is no file ${file}.`)
  if (!stats.isFile()) throw new Error(`${file} is not a complete Gatehouse backup: it is not a regular file.`)
  let database: DatabaseSync | undefined
  try {
    database = openToRead(file)
    const [check] = database.prepare('pragma integrity_check(1)').all()
    if (check?.['integrity_check'] !== 'ok') throw new Error(String(check?.['integrity_check']))
    const row = database.prepare('select manifest from backup_manifest').get()
    return {
      manifest: readManifest(String(row?.['manifest'])),
      lastMigration: numberOf(database, 'select max(number) from migration'),
      organizations: numberOf(database, 'select count(*) from organization'),
      events: numberOf(database, 'select count(*) from audit_event'),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${file} is not a complete Gatehouse backup: ${reason}.`, { cause })
  } finally {
    database?.close()
  }
}

/** The names become paths in the data folder, so only those that a backup writes are accepted. */
function readManifest(text: string): BackupManifest {
  const manifest = JSON.parse(text) as BackupManifest
  const foreign = Object.entries(manifest.secretFiles).find(
    ([name, content]) => !secretFileNames.includes(name) || typeof content !== 'string',
  )
  if (foreign) throw new Error(`it contains a file named ${JSON.stringify(foreign[0])}`)
  return manifest
}

/** Rejects a backup with a table, index, trigger or view that no migration of its version creates. */
export function assertOwnSchema(file: string, migrations: readonly Migration[]): void {
  const database = openToRead(file)
  try {
    const foreign = foreignObject(database, migrations)
    if (foreign === undefined) return
    throw new Error(
      `${file} is not a database of Gatehouse: its ${foreign} is not the one of this version. Somebody changed the database or the file; nothing was restored.`,
    )
  } finally {
    database.close()
  }
}

/**
 * Restores a backup's database and secret files into a data folder that this process has locked. Existing files are moved to
 * `replacedDir`. The database is renamed to its final name last, because a folder without a database can be restored again.
 */
export async function restoreBackup(
  file: string,
  { dataDir, replacedDir }: { readonly dataDir: string; readonly replacedDir: string },
): Promise<void> {
  const { manifest } = readBackup(file)
  const partial = join(dataDir, `${databaseFileName}.${process.pid}.partial`)
  try {
    await copyDatabase(file, partial)
    dropManifest(partial)
    syncPath(partial)
    moveReplaced(dataDir, replacedDir, [
      databaseFileName,
      `${databaseFileName}-wal`,
      `${databaseFileName}-shm`,
      ...redoPathsOf(databaseFileName),
      checkpointFolderName, // of the log that is replaced; the restored one does not have its last checkpoints
    ])
    // All secret files, because a previous secret that stays would be used for the restored database.
    if (Object.keys(manifest.secretFiles).length > 0) moveReplaced(dataDir, replacedDir, secretFileNames)
    for (const [name, text] of Object.entries(manifest.secretFiles)) writeAtomically(join(dataDir, name), text)
    renameSync(partial, join(dataDir, databaseFileName))
    syncPath(dataDir)
  } finally {
    rmSync(partial, { force: true })
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const source = openToRead(from)
  try {
    await backup(source, to, { rate: allPages })
  } finally {
    source.close()
  }
}

function openToRead(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true })
}

function addManifest(file: string, manifest: BackupManifest): void {
  change(file, (database) => {
    database.exec('create table backup_manifest (manifest TEXT not null) STRICT')
    database.prepare('insert into backup_manifest (manifest) values (?)').run(JSON.stringify(manifest))
  })
}

/** Overwrites the page of the manifest as well, because it may contain the secret. */
function dropManifest(file: string): void {
  change(file, (database) => database.exec('pragma secure_delete = on; drop table backup_manifest'))
}

function change<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma journal_mode = delete') // one file, without a separate log
    return work(database)
  } finally {
    database.close()
  }
}

/** Uses a link, because a rename would replace a file that was created meanwhile. */
function publish(partial: string, file: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw fileExists(file)
    renameSync(partial, file) // some file systems have no links
  }
  syncPath(join(file, '..'))
}

/** Checks before the copy, because SQLite's error names neither the file nor the reason. */
function assertWritable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${file} cannot be written: ${reason}. Choose another name.`, { cause })
  }
}

function fileExists(file: string): Error {
  return new Error(`${file} exists already. A backup never overwrites a file: choose another name.`)
}

function moveReplaced(dataDir: string, replacedDir: string, names: readonly string[]): void {
  const present = names.filter((name) => existsSync(join(dataDir, name)))
  if (present.length === 0) return
  mkdirSync(replacedDir, { recursive: true, mode: 0o700 })
  for (const name of present) renameSync(join(dataDir, name), join(replacedDir, name))
}

function numberOf(database: DatabaseSync, sql: string): number {
  const [value] = Object.values(database.prepare(sql).get() ?? {})
  return Number(value ?? 0)
}
