/**
 * Compiles the word lists in `lexicons`. A file is a list, and so is a folder with a file per language:
 *
 *   word                  one word or phrase per line; `# ` starts a comment
 *   stem*                 every word that begins so
 *   I (want|wish) [so] to die    one of the alternatives; one of them or none
 *
 * Of a phrase that is longer than `longestPhrase` only the beginning counts.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hashWord } from '../../src/adapters/classifiers/embedded/hashing.ts'
import { disguisedPhrases, listMisspellings } from '../../src/adapters/classifiers/embedded/misspellings.ts'
import type { LexiconTables } from '../../src/adapters/classifiers/embedded/model.ts'
import { normalise } from '../../src/domain/scan/normalise/normalise.ts'
import { hashPhrase, longestPhrase } from './reading/lexicon.ts'

export type CompiledLexicon = {
  readonly lists: readonly string[]
  readonly tables: LexiconTables
  /** All words of the lists. The vocabulary must contain them. */
  readonly words: readonly string[]
}

export function compileLexicon(folder: string): CompiledLexicon {
  const lists = readdirSync(folder).sort()
  const tables = { words: new Map(), stems: new Map(), phrases: new Map(), phraseLengths: new Map() }
  const words = new Set<string>()
  const misspellings = listMisspellings()
  for (const [index, list] of lists.entries()) {
    for (const entry of entriesOf(join(folder, list))) {
      for (const spelling of new Set([entry, entry.replaceAll("'", '')])) {
        addEntry(tables, spelling, 1 << index)
        for (const word of wordsOf(spelling)) words.add(word.replace('*', ''))
      }
      // Not part of the vocabulary: a misspelling that the vocabulary contains is not read as the word behind it.
      if (list !== 'crisis.txt') continue
      for (const disguised of disguisedPhrases(entry, misspellings)) addEntry(tables, disguised, 1 << index)
    }
  }
  return { lists: lists.map((list) => basename(list, '.txt')), tables, words: [...words] }
}

/** A folder has a file per language, and phrases that make no difference are left out, because there are too many. */
function entriesOf(list: string): readonly string[] {
  if (list.endsWith('.txt')) return readEntries(list)
  return withoutLonger(readdirSync(list).flatMap((file) => readEntries(join(list, file))))
}

const readEntries = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .flatMap(expand)
    .map(normalise)

/** Leaves out phrases that contain another entry of the list, which counts anyway. */
function withoutLonger(entries: readonly string[]): readonly string[] {
  const spelled = new Set(entries.map((entry) => wordsOf(entry).join(' ')))
  return [...spelled].filter((entry) => {
    const words = entry.split(' ')
    const parts = words.flatMap((_, start) => words.slice(start).map((_rest, at) => words.slice(start, start + at + 1)))
    return !parts.some((part) => part.length < words.length && spelled.has(part.join(' ')))
  })
}

const group = /\((?<one>[^()]*)\)|\[(?<orNone>[^[\]]*)\]/

/** All entries that a line with alternatives stands for. The innermost groups are expanded first. */
function expand(line: string): readonly string[] {
  const found = group.exec(line)
  if (found === null) return [line]
  const { one, orNone } = found.groups ?? {}
  const choices = one === undefined ? ['', ...(orNone ?? '').split('|')] : one.split('|')
  const [before, after] = [line.slice(0, found.index), line.slice(found.index + found[0].length)]
  return choices.flatMap((choice) => expand(before + choice + after))
}

/** The words of an entry as the reader sees them: each kana and each Han character is one. */
function wordsOf(entry: string): readonly string[] {
  return entry.match(/[\u3040-\u30ff\u3400-\u9fff][\u3099\u309a]?|[^ \-\u3040-\u30ff\u3400-\u9fff]+/g) ?? []
}

type MutableTables = { readonly [Name in keyof LexiconTables]: Map<number, number> }

function addEntry(tables: MutableTables, entry: string, list: number): void {
  const words = wordsOf(entry).slice(0, longestPhrase)
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
