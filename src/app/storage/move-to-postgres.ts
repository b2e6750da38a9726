import { copyDatabase, type Copied } from '../../adapters/stores/sql/copy/copy-database.ts'
import { openCopyTarget } from '../../adapters/stores/sql/copy/target.ts'
import { readMigrations } from '../../adapters/stores/sql/migrate.ts'
import { openPostgres } from '../../adapters/stores/sql/postgres/postgres.ts'
import type { Config } from '../../config/config.ts'
import { openMoveSource, type SecretPlaces } from './move-source.ts'
import { verifyMoved, type MoveVerification } from './move-verification.ts'
import { migrationsDir } from './storage.ts'

export type MoveOptions = {
  /** Of an empty PostgreSQL database. */
  readonly url: string
  /** A backup to move in place of the data folder. */
  readonly file: string | undefined
  readonly onProgress: (step: MoveStep, progress: { readonly done: number; readonly total: number }) => void
}

export type MoveStep = 'copy' | 'verify'

export type Moved = Copied &
  MoveVerification & {
    readonly secretPlaces: SecretPlaces
    /** Whether a server may start on PostgreSQL. */
    readonly isComplete: boolean
  }

/** Moves an embedded installation into an empty PostgreSQL database. Nothing in the source is changed. */
export async function moveToPostgres(config: Config, { url, file, onProgress }: MoveOptions): Promise<Moved> {
  const migrations = await readMigrations(migrationsDir)
  using source = await openMoveSource(config, { file, migrations })
  await using target = await openCopyTarget(url)
  await using database = await openPostgres({ url, poolSize: 1, statementTimeoutMs: 0, answerTimeoutMs: 0 })
  const copied = await copyDatabase({
    source: source.copy,
    target,
    database,
    migrations,
    onRows: ({ rows, total }) => onProgress('copy', { done: rows, total }),
  })
  const verification = await verifyMoved({
    database,
    url,
    keyring: source.keyring,
    onEvents: ({ events, total }) => onProgress('verify', { done: events, total }),
  })
  const isComplete = verification.brokenLogs.length === 0 && verification.ledger.broken === null
  if (isComplete) await target.finish()
  return { ...copied, ...verification, secretPlaces: source.secretPlaces, isComplete }
}
