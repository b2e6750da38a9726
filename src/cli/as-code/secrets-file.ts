import { closeSync, existsSync, fchmodSync, fsyncSync, lstatSync, realpathSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { messageOf } from '../../base/fault.ts'
import { plural } from '../../base/plural.ts'
import { openToAppend } from '../../base/regular-file.ts'
import { UsageError } from '../command.ts'
import { oneLine } from '../table.ts'
import type { IssuedSecret } from './step.ts'

/** Where the secrets of new keys go. */
export type SecretsOutput = Disposable & {
  readonly file: string | undefined
  readonly issued: readonly IssuedSecret[]
  keep(secret: IssuedSecret): void
  /** For the output: without the values that are in the file. */
  shown(): readonly ShownSecret[]
}

type ShownSecret = Omit<IssuedSecret, 'value'> & { readonly value?: string }

/**
 * Opens the file before the first key is created, because a secret that cannot be written afterwards would be lost. The
 * folder of resources is in version control, so the file must be elsewhere.
 */
export function openSecrets(file: string | undefined, folder: string): SecretsOutput {
  if (file !== undefined && isInside(folder, file))
    throw new UsageError(`--secrets-file: ${file} is in the folder of the resources. Name a file outside of it.`)
  const descriptor = file === undefined ? undefined : opened(file)
  const issued: IssuedSecret[] = []
  const written = new Set<IssuedSecret>()
  return {
    file,
    issued,
    keep(secret) {
      issued.push(secret)
      if (descriptor === undefined) return
      writeSync(descriptor, `${JSON.stringify(secret)}\n`)
      fsyncSync(descriptor)
      written.add(secret)
    },
    shown: () => issued.map((secret) => (written.has(secret) ? withoutValue(secret) : secret)),
    [Symbol.dispose]() {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}

function isInside(folder: string, file: string): boolean {
  if (!statSync(folder).isDirectory()) return false
  const path = relative(realpathSync(folder), realPathOf(resolve(file)))
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`)
}

/** The path without links, also of a file that does not exist yet. */
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new UsageError(`--secrets-file: ${path} is a link to a file that does not exist. Name the file itself.`)
  return join(realPathOf(dirname(path)), basename(path))
}

function opened(file: string): number {
  try {
    const descriptor = openToAppend(file)
    fchmodSync(descriptor, 0o600)
    return descriptor
  } catch (error) {
    throw new Error(`--secrets-file: ${messageOf(error)}`, { cause: error })
  }
}

const withoutValue = ({ value: _, ...key }: IssuedSecret): ShownSecret => key

/** The secrets for a person. They are not shown again. */
export function secretsText({ file, ...secrets }: SecretsOutput): string[] {
  const shown = secrets.shown().filter(({ value }) => value !== undefined)
  const inFile = secrets.issued.length - shown.length
  return [
    ...(inFile === 0 ? [] : [`${plural(inFile, 'new secret')} in ${file}.`]),
    ...(shown.length === 0 ? [] : ['Keep these keys: they are not shown again.']),
    ...shown.map(({ name, project, id, value }) =>
      oneLine(`  ${[project, name].filter(Boolean).join(', ')} (${id}): ${value}`),
    ),
  ]
}
