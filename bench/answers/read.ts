import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readProse } from '../load/sentences.ts'

/** Harmless answers by kind of text. */
export type Answers = ReadonlyMap<string, readonly string[]>

const folder = fileURLToPath(new URL('.', import.meta.url))
const separator = '\n%%\n'
const documentCount = 200
const sentencesPerDocument = 6

/** The answers in the files beside this one, and paragraphs of the documents of this checkout and its packages. */
export function readAnswers(): Answers {
  const files = globSync('*.txt', { cwd: folder }).toSorted()
  return new Map([
    ...files.map(
      (file) => [basename(file, '.txt'), readFileSync(`${folder}${file}`, 'utf8').trimEnd().split(separator)] as const,
    ),
    ['documents', readDocuments()],
  ])
}

/** Taken evenly, so that many documents are among them. */
function readDocuments(): readonly string[] {
  const sentences = readProse()
  const step = Math.floor(sentences.length / documentCount)
  return Array.from({ length: documentCount }, (_, at) =>
    sentences.slice(at * step, at * step + sentencesPerDocument).join(' '),
  )
}
