import { globSync } from 'node:fs'

/** A project of its own, with the clients it needs: `npm run test:clients` runs it. */
const otherClients = 'test/clients/other/'

/** All test files, or those whose path contains one of the words. A word that finds nothing is an error. */
export function findTestFiles(words: readonly string[]): string[] {
  const found = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { exclude: [`${otherClients}**`] })
  const all = found.filter((file) => !file.startsWith(otherClients)).sort()
  for (const word of words) {
    if (!all.some((file) => file.includes(word))) throw new Error(`No test file has "${word}" in its path.`)
  }
  return words.length === 0 ? all : all.filter((file) => words.some((word) => file.includes(word)))
}
