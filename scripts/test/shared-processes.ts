import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Folders whose test files leave nothing behind in their process. test/commands/shared-processes.test.ts checks it. */
export const sharedFolders = ['src/', 'console/src/', 'test/http/']

/** A process loads the sources once for all its files. More files in one need more memory, and balance worse over the processors. */
const filesPerProcess = 25

/** A process of a test run. */
export type TestProcess = {
  /** The file that it starts with. */
  readonly entry: string
  /** The test files that it runs. */
  readonly files: readonly string[]
}

/** Puts the files of the shared folders together, and gives every other file a process of its own. `folder` is for entries. */
export function planProcesses(files: readonly string[], folder: string): TestProcess[] {
  const groups = sharedFolders.flatMap((shared) => chunks(files.filter((file) => file.startsWith(shared))))
  const alone = files.filter((file) => !sharedFolders.some((shared) => file.startsWith(shared)))
  return [
    ...groups.map((group, index) => sharedProcess(group, join(folder, `shared-${index}.mjs`))),
    ...alone.map(ownProcess),
  ]
}

export const ownProcess = (file: string): TestProcess => ({ entry: resolve(file), files: [file] })

function sharedProcess(files: readonly string[], entry: string): TestProcess {
  const [first, ...others] = files
  if (first !== undefined && others.length === 0) return ownProcess(first)
  writeFileSync(entry, entryOf(files))
  return { entry, files }
}

/**
 * Each file is a suite with its path as name. They load one after another, so that each suite owns the tests of its file. The first
 * test waits for the last file, because loading blocks the process, and tests with real timeouts would fail meanwhile.
 */
function entryOf(files: readonly string[]): string {
  const modules = files.map((file) => [file, pathToFileURL(file).href])
  return `import { before, describe } from 'node:test'
const { promise: allLoaded, resolve: start } = Promise.withResolvers()
before(() => allLoaded)
for (const [file, url] of ${JSON.stringify(modules)}) {
  await new Promise((loaded) => describe(file, () => import(url).finally(loaded)))
}
start()
`
}

function chunks(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / filesPerProcess)
  return Array.from({ length: count }, (_, index) =>
    files.slice(index * filesPerProcess, (index + 1) * filesPerProcess),
  )
}
