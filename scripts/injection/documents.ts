/**
 * Harmless documents: texts and source files of the packages that this project depends on. They are written for people and programs,
 * with many words that attacks use as well. The lock file pins the packages, so the documents are the same on every machine.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** About as long as a result of a tool that reads a file. */
const partCharacters = 1_200
/** Parts of each file. A long file tells no more than several short ones. */
const mostParts = 10
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))
/** Packages of the project, which are links. */
const isOwn = (path: string): boolean => path.startsWith('gatehouse') || path.startsWith('.')

export type DocumentPart = { readonly packageName: string; readonly text: string }

/** One of this many source files is read, because they far outnumber the texts. */
const sourceStride = 5

export function readDocuments(): readonly DocumentPart[] {
  const paths = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => !isOwn(path))
    .sort()
  const texts = paths.filter((path) => /\.(?:md|txt|ya?ml|json)$/.test(path))
  const sources = paths
    .filter((path) => /\.(?:d\.ts|[cm]?js|ts)$/.test(path))
    .filter((_, at) => at % sourceStride === 0)
  return [...texts, ...sources].flatMap(partsOf)
}

function partsOf(path: string): readonly DocumentPart[] {
  const text = readFileSync(modules + path, 'utf8')
  const [first = '', second = ''] = path.split('/')
  const packageName = first.startsWith('@') ? `${first}/${second}` : first
  const count = Math.min(mostParts, Math.ceil(text.length / partCharacters))
  const stride = Math.max(partCharacters, Math.floor(text.length / Math.max(1, count)))
  return Array.from({ length: count }, (_, at) => ({
    packageName,
    text: text.slice(at * stride, at * stride + partCharacters),
  }))
}
