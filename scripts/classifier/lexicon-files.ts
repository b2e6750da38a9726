/** Compiles the word lists in `lexicons/*.txt`: one word or phrase per line, `# ` for comments, `stem*` for prefixes. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hashWord } from '../../src/adapters/classifiers/embedded/hashing.ts'
import { disguisedPhrases, listMisspellings } from '../../src/adapters/classifiers/embedded/misspellings.ts'
import type { LexiconTables } from '../../src/adapters/classifiers/embedded/model.ts'
import { normalise } from '../../src/domain/moderation/normalise.ts'
import { hashPhrase, longestPhrase } from './reading/lexicon.ts'

export type CompiledLexicon = {
  readonly lists: readonly string[]
  readonly tables: LexiconTables
  /** All words of the lists. The vocabulary must contain them. */
  readonly words: readonly string[]
}

export function compileLexicon(folder: string): CompiledLexicon {
  const files = readdirSync(folder).sort()
  const tables = { words: new Map(), stems: new Map(), phrases: new Map(), phraseLengths: new Map() }
  const words = new Set<string>()
  const misspellings = listMisspellings()
  for (const [index, file] of files.entries()) {
    for (const entry of entriesOf(readFileSync(join(folder, file), 'utf8'))) {
      for (const spelling of new Set([entry, entry.replaceAll("'", '')])) {
        addEntry(tables, spelling, 1 << index)
        for (const word of spelling.split(' ')) words.add(word.replace('*', ''))
      }
      // Not part of the vocabulary: a misspelling that the vocabulary contains is not read as the word behind it.
      if (file !== 'crisis.txt') continue
      for (const disguised of disguisedPhrases(entry, misspellings)) addEntry(tables, disguised, 1 << index)
    }
  }
  return { lists: files.map((file) => file.replace('.txt', '')), tables, words: [...words] }
}

const entriesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map(normalise)

type MutableTables = { readonly [Name in keyof LexiconTables]: Map<number, number> }

function addEntry(tables: MutableTables, entry: string, list: number): void {
  const words = entry.split(' ')
  if (words.length > longestPhrase) throw new Error(`«${entry}» is longer than ${longestPhrase} words.`)
  if (words.length > 1) {
    const hashes = words.map(hashWord)
    add(tables.phrases, hashPhrase(hashes), list)
    add(tables.phraseLengths, hashes.at(-1) ?? 0, 1 << words.length)
  } else if (entry.endsWith('*')) {
    add(tables.stems, hashWord(entry.slice(0, -1)), list)
  } else {
    add(tables.words, hashWord(entry), list)
  }
}

function add(table: Map<number, number>, hash: number, mask: number): void {
  table.set(hash, (table.get(hash) ?? 0) | mask)
}
