import { globSync } from 'node:fs'

/** A separate project with its own dependencies, run by `npm run test:clients`. */
const otherClients = 'test/clients/other/'

/** All test files, or those whose path contains one of the words. A word that matches no file is an error. */
export function findTestFiles(words: readonly string[]): string[] {
  const matches = globSync(['{src,console/src,test}/**/*.test.ts'], { exclude: [`${otherClients}**`] })
  const all = matches.filter((file) => !file.startsWith(otherClients)).sort()
  for (const word of words) {
    if (!all.some((file) => file.includes(word))) throw new Error(`No test file has "${word}" in its path.`)
  }
  return words.length === 0 ? all : all.filter((file) => words.some((word) => file.includes(word)))
}
