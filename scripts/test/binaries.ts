import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** The folder with initdb and postgres of the newest PostgreSQL on this machine. Debian keeps it off the PATH. */
export function findPostgres(): string | undefined {
  const packaged = globSync(['/usr/lib/postgresql/*/bin', '/opt/homebrew/opt/postgresql*/bin', '/usr/pgsql-*/bin'])
  const newestFirst = packaged.sort((left, right) => versionIn(right) - versionIn(left))
  return [...newestFirst, ...pathFolders()].find((folder) => has(folder, 'initdb') && has(folder, 'postgres'))
}

export const findRedis = (): string | undefined => findProgram('redis-server') ?? findProgram('valkey-server')

/** The path of a program on the PATH. */
export function findProgram(name: string): string | undefined {
  const folder = pathFolders().find((candidate) => has(candidate, name))
  return folder && join(folder, name)
}

const versionIn = (path: string): number => Number(/\d+/.exec(dirname(path))?.[0] ?? 0)

const pathFolders = (): string[] => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')

function has(folder: string, program: string): boolean {
  try {
    accessSync(join(folder, program), constants.X_OK)
    return true
  } catch {
    return false
  }
}
