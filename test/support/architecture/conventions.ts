import { posix } from 'node:path'
import { moduleOf } from './modules.ts'
import type { SourceFile } from './source-tree.ts'

const mostLines = 300

/** Files that may be longer, each with the reason. */
const mayBeLong: Readonly<Record<string, string>> = {}

/** Names that say nothing gather everything. */
const emptyWords = ['util', 'utils', 'helper', 'helpers', 'common', 'misc']

/** Rooms that hold meaning alone: no package, no way to the outside. */
const pureRooms = ['domain', 'pipeline', 'wire']
const waysOut = /^node:(fs|https?|http2|sqlite|child_process|worker_threads|dgram|tls|os|process)(\/|$)/

/** Rooms that are handed time, chance, network and environment as parts. */
const handedTheWorld = ['http', 'pipeline', 'adapters', 'domain', 'wire']
const worldly =
  /\b(?:Date\.now|Math\.random|performance\.now|setTimeout|setInterval|randomBytes|randomUUID|fetch)\(|\bnew Date\(\)|\bprocess\.env\b/

/** Barrels, and names that say nothing. */
export const emptyNames = (tree: readonly SourceFile[]): string[] =>
  tree
    .map(({ path }) => path)
    .filter(
      (path) => posix.basename(path) === 'index.ts' || path.split(/[/.-]/).some((word) => emptyWords.includes(word)),
    )

/** Files over the limit, and exceptions that are no longer needed. */
export function oversized(tree: readonly SourceFile[], exceptions = mayBeLong): string[] {
  const long = tree.filter(({ text }) => text.split('\n').length - 1 > mostLines).map(({ path }) => path)
  return [
    ...long.filter((path) => !(path in exceptions)),
    ...Object.keys(exceptions)
      .filter((path) => !long.includes(path))
      .map((path) => `${path} is excepted for no reason`),
  ]
}

/** Files of the pure rooms that import a package or one of Node's ways to the outside. */
export const impurities = (tree: readonly SourceFile[]): string[] =>
  tree
    .filter(({ path }) => pureRooms.includes(moduleOf(path)))
    .flatMap(({ path, packages }) =>
      packages.filter((name) => !name.startsWith('node:') || waysOut.test(name)).map((name) => `${path} -> ${name}`),
    )

/** Lines that ask the world directly where it should have been handed in. */
export const worldlyLines = (tree: readonly SourceFile[]): string[] =>
  tree
    .filter(({ path }) => handedTheWorld.includes(moduleOf(path)))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => (isCode(line) && worldly.test(line) ? [`${path}:${at + 1}`] : [])),
    )

const isCode = (line: string): boolean => !/^\s*(\*|\/\/|\/\*)/.test(line)
