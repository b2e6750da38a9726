import { readFileSync } from 'node:fs'
import { messageOf } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { endpointsPart, withParts } from './marks.ts'

/** A built page or a file that pages load. Its text has marks where the address of the service belongs. */
export type BuiltText = { readonly type: string; readonly read: () => string }

/** The built documentation of a port by path, or why there is none. */
export type BuiltDocs = { readonly texts: ReadonlyMap<string, BuiltText> } | { readonly problem: string }

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Reads what `scripts/docs/build.ts` wrote: the files that `files.json` lists, and those of the port. Nothing else is ever served. */
export function readBuiltDocs(folder: URL, port: string): BuiltDocs {
  const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8')
  try {
    const stamp = read('stamp.json')
    const parts = { ...textsIn(read('operations.json')), [endpointsPart]: read(`ports/${port}/endpoints.html`) }
    const files = Object.entries({
      ...textsIn(read('files.json')),
      '/docs': `ports/${port}/reference.html`,
      '/docs/assets/search.json': `ports/${port}/search.json`,
    })
    const texts = new Map(files.map(([path, file]) => [path, builtText(file, read(file), parts)]))
    // Another build may have replaced the folder meanwhile.
    return read('stamp.json') === stamp ? { texts } : readBuiltDocs(folder, port)
  } catch (error) {
    return { problem: readProblem(read) ?? messageOf(error) }
  }
}

function builtText(file: string, template: string, parts: Readonly<Record<string, string>>): BuiltText {
  const extension = file.slice(file.lastIndexOf('.') + 1)
  const type = types[extension] ?? 'application/octet-stream'
  return { type, read: () => (extension === 'html' ? withParts(template, parts) : template) }
}

function textsIn(json: string): Record<string, string> {
  const value: unknown = JSON.parse(json)
  if (!isRecord(value)) throw new Error('a list of the built documentation is not an object')
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
}

/** Why the last build failed. */
function readProblem(read: (file: string) => string): string | undefined {
  try {
    return read('problem.txt')
  } catch {
    return undefined
  }
}
