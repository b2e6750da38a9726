import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeAuthored } from '../../scripts/classifier/authored.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Without pages about moderation, which name what it blocks. */
const documents = ['*.md', 'docs/**/*.md', 'node_modules/*/README.md', 'node_modules/@*/*/README.md']
/** Rows of the classifier’s own texts that nobody would block. */
const chatFiles = new Set(['benign.txt', 'instructions.txt', 'responses.txt'])

/** Sentences of the documents of this checkout and of its packages: thousands of different words. */
export function readProse(): readonly string[] {
  const files = globSync(documents, { cwd: root, exclude: ['**/*moderation*', '**/*encoder*'] }).toSorted()
  return [...new Set(files.flatMap((file) => sentencesOf(readFileSync(`${root}/${file}`, 'utf8'))))]
}

/** Turns of chats. */
export function readChatTurns(): readonly string[] {
  const rows = writeAuthored(fileURLToPath(new URL('../../scripts/classifier/authored', import.meta.url)), 7)
  return rows.flatMap(({ file, text }) => (chatFiles.has(file) && isPlain(text) ? [text] : []))
}

/** Characters that need no escape in JSON, and one byte each. */
const isPlain = (text: string): boolean => /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

const notProse = /^(?:```|~~~)[\s\S]*?^(?:```|~~~)|^[ \t]*(?:[|#<>\-*+`]|\d+\.|\[).*$|<[^>]*>/gm
const link = /!?\[([^\]]*)\]\([^)]*\)/g

function sentencesOf(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(notProse, '\n').replaceAll(link, '$1').replaceAll(/[`*_]/g, '')
  return prose
    .split(/\n\s*\n/)
    .flatMap((paragraph) => paragraph.replaceAll(/\s+/g, ' ').match(/[A-Z][^.!?]{25,240}[.!?](?= |$)/g) ?? [])
    .filter((sentence) => isPlain(sentence) && sentence.split(' ').length > 4)
}
