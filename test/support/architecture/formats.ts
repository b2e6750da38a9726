import { callerFormats } from '../../../src/domain/inference/formats.ts'
import { upstreamKinds } from '../../../src/wire/upstream-kinds.ts'
import type { SourceFile } from './source-tree.ts'

/** The only files that may list formats of callers or kinds of upstream. Everything else is derived from them. */
const registries: ReadonlySet<string> = new Set(['domain/inference/formats.ts', 'wire/upstream-kinds.ts'])

/** Two names next to each other in a list, in a union type or in a comparison. */
const listOf = (names: readonly string[]): RegExp => {
  const name = `'(?:${names.join('|')})'`
  return new RegExp(`${name}\\s*(?:,|\\|)\\s*${name}|=== ${name}\\s*\\|\\|[^'\\n]*=== ${name}`, 'g')
}

const lists = [listOf(callerFormats), listOf(upstreamKinds)]

/** Lists that would stay incomplete when a format or a kind is added. */
export const strayFormatLists = (tree: readonly SourceFile[]): string[] =>
  tree
    .filter(({ path }) => !registries.has(path))
    .flatMap(({ path, text }) =>
      lists.flatMap((list) => [...text.matchAll(list)].map(({ index }) => `${path}:${lineAt(text, index)}`)),
    )

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length
