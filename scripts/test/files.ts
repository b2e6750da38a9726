import { globSync } from 'node:fs'

/** All test files, or those whose path contains one of the words. A word that finds nothing is an error. */
export function findTestFiles(words: readonly string[]): string[] {
  const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort()
  for (const word of words) {
    if (!all.some((file) => file.includes(word))) throw new Error(`No test file has "${word}" in its path.`)
  }
  return words.length === 0 ? all : all.filter((file) => words.some((word) => file.includes(word)))
}
