import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { openAuditLog, setClock } from './audit-log.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The server secret that signs the fixture's checkpoints (see `openAuditLog`). */
export const auditSecret = 'a secret for tests'

/** Data folders with the same 42 events of org_1 and two checkpoints; each test copies one and changes it. */
export async function auditFolders() {
  const root = await temporaryFolder()
  const original = join(root.path, 'original')
  await fill(original)
  return {
    copy(name: string) {
      const folder = join(root.path, name)
      cpSync(original, folder, { recursive: true })
      return {
        folder,
        run: auditCommand(folder),
        change: <T>(work: (database: Database) => Promise<T>) => withDatabase(folder, work),
      }
    },
    [Symbol.asyncDispose]: () => root[Symbol.asyncDispose](),
  }
}

async function withDatabase<T>(folder: string, work: (database: Database) => Promise<T>): Promise<T> {
  await using database = await openSqlite({ dataDir: folder })
  return await work(database)
}

/** Runs `gatehouse audit` on a data folder; returns the exit code and its output. */
export function auditCommand(folder: string, env: Readonly<Record<string, string>> = {}) {
  return async (...args: string[]): Promise<[number, string]> => {
    const output: string[] = []
    const code = await runCommandLine(['audit', ...args], {
      env: { GATEHOUSE_DATA_DIR: folder, GATEHOUSE_SECRET: auditSecret, GATEHOUSE_CONFIG: '/dev/null', ...env },
      print: (line) => output.push(line),
      printError: (line) => output.push(line),
      confirm: async () => false,
    })
    return [code, output.join('\n')]
  }
}

async function fill(folder: string): Promise<void> {
  mkdirSync(folder, { mode: 0o700 })
  await using database = await openSqlite({ dataDir: folder })
  await migrate(database, await readMigrations(new URL('../../migrations', import.meta.url).pathname))
  const log = await openAuditLog(database, setClock(), ['org_1'])
  await publishKeys(log.checkpoints)
  await log.append(20)
  await signDueChains(log.checkpoints)
  log.clock.passMs(61_000)
  await log.append(19)
  await log.append(1, { requestId: 'req_texts', content: { full: { prompt: 'planted' } } })
  await signDueChains(log.checkpoints)
}
