import { posix } from 'node:path'
import { moduleOf } from './modules.ts'
import type { SourceFile } from './source-tree.ts'

const maxLines = 300

/** Files that may be longer, each with the reason. */
const longFiles: Readonly<Record<string, string>> = { 'jobs/jobs.ts': 'lists the jobs' }

/** Names without meaning attract unrelated code. */
const emptyWords = ['util', 'utils', 'helper', 'helpers', 'common', 'misc']

/** Modules that import no package and do no I/O. */
const pureModules = ['domain', 'pipeline', 'jobs', 'wire']
const ioModules = /^node:(fs|https?|http2|sqlite|child_process|worker_threads|dgram|tls|os|process)(\/|$)/

/** Modules that get time, randomness, network and environment as parameters. */
const parameterizedModules = ['http', 'jobs', 'pipeline', 'adapters', 'domain', 'wire']
const ambientCall =
  /\b(?:Date\.now|Math\.random|performance\.now|setTimeout|setInterval|randomBytes|randomUUID|fetch)\(|\bnew Date\(\)|\bprocess\.env\b/

/** Barrels, and meaningless names. */
export const emptyNames = (tree: readonly SourceFile[]): string[] =>
  tree
    .map(({ path }) => path)
    .filter(
      (path) => posix.basename(path) === 'index.ts' || path.split(/[/.-]/).some((word) => emptyWords.includes(word)),
    )

/** Files over the limit, and exceptions that are no longer needed. */
export function oversized(tree: readonly SourceFile[], exceptions = longFiles): string[] {
  const long = tree.filter(({ text }) => text.split('\n').length - 1 > maxLines).map(({ path }) => path)
  return [
    ...long.filter((path) => !(path in exceptions)),
    ...Object.keys(exceptions)
      .filter((path) => !long.includes(path))
      .map((path) => `${path} needs no exception`),
  ]
}

const maxImports = 20

/** Files that may import more of the project, each with the reason. */
const wideFiles: Readonly<Record<string, string>> = {
  'app.ts': 'creates and connects every part',
  'app/features/features.ts': 'lists the features',
  'app/inference.ts': 'opens every part that a request passes',
  'cli/commands.ts': 'lists the commands',
  'pipeline/run.ts': 'names every step of a request',
  'pipeline/enforcement/enforce.ts': 'names every step of the checks of a request',
}

/** Files that import too many others, and exceptions that are no longer needed. */
export function tooManyImports(tree: readonly SourceFile[], exceptions = wideFiles): string[] {
  const wide = tree.filter(({ imports }) => imports.length > maxImports)
  return [
    ...wide.filter(({ path }) => !(path in exceptions)).map(({ path, imports }) => `${path}: ${imports.length}`),
    ...Object.keys(exceptions)
      .filter((path) => !wide.some((file) => file.path === path))
      .map((path) => `${path} needs no exception`),
  ]
}

const maxParts = 12

/** Types of parts with too many members of their own. Nobody sees who needs what of such an object. */
export const widePartsTypes = (tree: readonly SourceFile[]): string[] =>
  tree.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?type (\w*Parts)\b[^=]*=((?:.*\S.*\n)+)/gm)]
      .map(([, name = '', body = '']) => ({
        name,
        members: [...body.matchAll(/^ {2,4}(?:readonly )?\w+\??[:(]/gm)].length,
      }))
      .filter(({ members }) => members > maxParts)
      .map(({ name, members }) => `${path} ${name}: ${members}`),
  )

/** Files of pure modules that import a package or one of Node's I/O modules. */
export const impureImports = (tree: readonly SourceFile[]): string[] =>
  tree
    .filter(({ path }) => pureModules.includes(moduleOf(path)))
    .flatMap(({ path, packages }) =>
      packages.filter((name) => !name.startsWith('node:') || ioModules.test(name)).map((name) => `${path} -> ${name}`),
    )

/** Lines that read the clock, randomness, network or environment directly instead of a parameter. */
export const ambientCalls = (tree: readonly SourceFile[]): string[] =>
  tree
    .filter(({ path }) => parameterizedModules.includes(moduleOf(path)))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => (isCode(line) && ambientCall.test(line) ? [`${path}:${at + 1}`] : [])),
    )

/** Files outside `jobs` that may start a periodic timer, each with the reason. */
const mayStartTimers: Readonly<Record<string, string>> = {
  'base/clock.ts': 'defines `repeat`',
  'cli/stop-signals.ts': 'watches the parent process of a command, which has no scheduler, until it has gone',
  'pipeline/export/lease.ts': 'renews the lease of one delivery until that delivery ends',
  'domain/audit/verification/runner.ts': 'renews the lease of one verification until that verification ends',
}

/**
 * Lines that start a periodic timer outside `jobs`, and exceptions that are no longer needed. A timeout fires once and belongs
 * to the call that waits, so `setTimeout` and `clock.after` are not covered.
 */
export function strayTimers(tree: readonly SourceFile[], exceptions = mayStartTimers): string[] {
  const timers = tree
    .filter(({ path }) => moduleOf(path) !== 'jobs')
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) => (isCode(line) && periodicTimer.test(line) ? [{ path, at: `${path}:${at + 1}` }] : [])),
    )
  const unneeded = Object.keys(exceptions).filter((path) => !timers.some((timer) => timer.path === path))
  return [
    ...timers.filter(({ path }) => !(path in exceptions)).map(({ at }) => at),
    ...unneeded.map((path) => `${path} needs no exception`),
  ]
}

const periodicTimer = /(?<![.\w])(?:repeat|setInterval)\(/

const isCode = (line: string): boolean => !/^\s*(\*|\/\/|\/\*)/.test(line)

/** Exported types that two files define under one name. A schema may share the name of the domain type it describes. */
export function repeatedTypes(tree: readonly SourceFile[]): string[] {
  const files = new Map<string, string[]>()
  for (const { path, text } of tree)
    if (!isSchemaFile(path))
      for (const [, name = ''] of text.matchAll(/^export (?:type|interface|class|enum) (\w+)/gm))
        files.set(name, [...(files.get(name) ?? []), path])
  return [...files].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

const isSchemaFile = (path: string): boolean => path.endsWith('schema.ts') || moduleOf(path) === 'config'
