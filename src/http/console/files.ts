import { readFileSync } from 'node:fs'
import { messageOf } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'

/** A file of the built console, with what was compressed when it was built. */
export type ConsoleFile = {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer | undefined
  readonly brotli: Buffer | undefined
}

/** The built console: its page and the files that the page loads, or why there is none. */
export type ConsoleFiles =
  | { readonly page: string; readonly assets: ReadonlyMap<string, ConsoleFile> }
  | { readonly problem: string }

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Reads the files that `scripts/build-console.mjs` lists in `stamp.json`. Nothing else is ever served. */
export function readConsoleFiles(folder: URL): ConsoleFiles {
  try {
    const stamp: unknown = JSON.parse(readFileSync(new URL('stamp.json', folder), 'utf8'))
    if (!isRecord(stamp) || !Array.isArray(stamp['assets'])) throw new Error('stamp.json lists no files')
    const names = stamp['assets'].filter((name) => typeof name === 'string')
    const page = readFileSync(new URL('index.html', folder), 'utf8')
    return { page, assets: new Map(names.map((name) => [name, readFile(folder, name)])) }
  } catch (error) {
    return { problem: readProblem(folder) ?? messageOf(error) }
  }
}

function readFile(folder: URL, name: string): ConsoleFile {
  const read = (file: string): Buffer => readFileSync(new URL(`assets/${file}`, folder))
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return { type, plain: read(name), gzip: tryRead(`${name}.gz`), brotli: tryRead(`${name}.br`) }

  function tryRead(file: string): Buffer | undefined {
    try {
      return read(file)
    } catch {
      return undefined // files that compression would not shorten
    }
  }
}

/** Why the last build failed. */
function readProblem(folder: URL): string | undefined {
  try {
    return readFileSync(new URL('problem.txt', folder), 'utf8')
  } catch {
    return undefined
  }
}
