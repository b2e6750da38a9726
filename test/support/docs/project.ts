import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readPage, type Page } from './page.ts'

/** Files, scripts and commands that pages may refer to. */
export type Project = {
  readonly root: string
  readonly pages: readonly Page[]
  /** Names of all files, without their folders. */
  readonly fileNames: ReadonlySet<string>
  /** Scripts of `npm run`. */
  readonly scripts: ReadonlySet<string>
  /** Commands of `gatehouse`. */
  readonly commands: ReadonlySet<string>
  readonly dependencies: readonly string[]
}

type Manifest = Readonly<
  Partial<Record<'scripts' | 'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>>
> & {
  readonly workspaces?: readonly string[]
}

export function readProject(root: string): Project {
  const manifestOf = (folder: string): Manifest =>
    JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
  const manifest = manifestOf('.')
  const manifests = [manifest, ...(manifest.workspaces ?? []).map(manifestOf)]
  const find = (...patterns: string[]): string[] =>
    globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', 'data/**', '{console,docs}/dist/**'] }).sort()
  return {
    root,
    pages: find('*.md', 'docs/**/*.md', 'src/**/README.md').map((path) => readPage(root, path)),
    fileNames: new Set(find('**/*.{ts,tsx,mjs,md,sql}').map((path) => basename(path))),
    scripts: new Set(Object.keys(manifest.scripts ?? {})),
    commands: new Set(
      find('src/cli/commands.ts').flatMap((path) => commandsIn(readFileSync(join(root, path), 'utf8'))),
    ),
    dependencies: manifests
      .flatMap((each) => Object.keys({ ...each.dependencies, ...each.devDependencies, ...each.optionalDependencies }))
      .sort(),
  }
}

/** `serve: async () => …`: the names under which commands are loaded. */
const commandsIn = (list: string): string[] =>
  [...list.matchAll(/^ *'?([\w-]+)'?: async/gm)].map(([, name = '']) => name)
