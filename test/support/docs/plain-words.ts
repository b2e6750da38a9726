import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from './project.ts'

/** Metaphors for parts of the system, archaic words, and phrases that hide the actor. Each has a plain word of the field. */
const bannedWords = `
  house|houses|in-house|storey|storeys|room|rooms|road|door|doors|office
  purse|drought|keeper|upkeep|stranger|strangers|manners
  whoever|whomever|anew|befall|befalls|befallen|lest|dear|dearer|dearest|mend|mends|mended
  in vain|comes along|come along|by itself|by themselves|in one breath|told of|tells of|what is told
  so many|so much|any more|all the same`
const banned = new RegExp(`\\b(?:${bannedWords.trim().replaceAll(/\n\s*/g, '|')})\\b`, 'i')

/**
 * Lines of prose with a banned word: Markdown without its code, comments, titles of tests, descriptions of the API, and the texts of
 * the command line and the console.
 */
export function bannedProse({ root, pages }: Project): string[] {
  const sources = globSync('{src,test,scripts,bench,bin,console/src}/**/*.{ts,tsx,mjs,lua}', {
    cwd: root,
    exclude: ['**/node_modules/**', 'bench/build/**', 'test/docs.test.ts'], // that test plants banned words
  }).sort()
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  return pages
    .flatMap(({ path }) => bannedLines(path, proseOfPage(read(path))))
    .concat(
      sources.flatMap((path) =>
        bannedLines(path, isAllProse(path) ? linesWithoutKeys(read(path)) : proseOfSource(read(path))),
      ),
    )
}

const linesWithoutKeys = (text: string): string[] => text.replaceAll(/\b\w+(?=:)/g, '').split('\n')

/** What people read is in every line of these files. */
const isAllProse = (path: string): boolean => /^(?:src\/cli|console\/src\/words)\//.test(path)

const bannedLines = (path: string, prose: readonly string[]): string[] =>
  prose.flatMap((line, at) => {
    const word = banned.exec(line)?.[0]
    return word === undefined ? [] : [`${path}:${at + 1}: ${word}`]
  })

/** The lines of a page; code becomes empty, so that line numbers stay. */
const proseOfPage = (text: string): string[] =>
  text
    .replaceAll(/^[ \t]*(`{3,}|~{3,})[^]*?^[ \t]*\1[ \t]*$/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, '')
    .split('\n')

/** The comments, test titles and descriptions of a file, line by line. */
function proseOfSource(text: string): string[] {
  let isInBlock = false
  return text.split('\n').map((line) => {
    const wasInBlock = isInBlock
    const opens = line.indexOf('/*')
    if (wasInBlock || opens >= 0) isInBlock = !line.includes('*/', Math.max(opens, 0))
    if (wasInBlock) return line
    const title = /\b(?:it|describe|test)\(\s*(['"`])(.*?)\1/.exec(line)?.[2] ?? ''
    const description = /\b(?:description|summary):(.*)$/.exec(line)?.[1] ?? ''
    const comment = /(?:^|\s)(?:\/\/|\/\*|--)(.*)$/.exec(line)?.[1] ?? ''
    return `${title} ${description} ${comment}`
  })
}
