import { existsSync, globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Replaces the types by spaces, because Node refuses TypeScript below `node_modules`. Lines and columns stay those of the
 * source. References to other modules, in imports and as files of workers, get the extension of the file in the package.
 */
export function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source)
    .replaceAll("'../src/main.ts'", "'../dist/main.js'")
    .replaceAll(/'([^'\n]+)\.ts'/g, "'$1.js'")
}

/** Throws if a module still refers to a TypeScript file, or to a module that the package does not contain. */
export function checkReferences(folder: string): void {
  const problems = globSync(['dist/**/*.js', 'bin/*.mjs'], { cwd: folder }).flatMap((file) => {
    const code = withoutComments(readFileSync(join(folder, file), 'utf8'))
    const sources = [...code.matchAll(/[^\s'"`]*\.ts(?=['"`])/g)].map(([name]) => `${file} refers to ${name}`)
    const missing = [...code.matchAll(/'(\.{1,2}\/[^'\n]+\.js)'/g)]
      .map(([, name = '']) => name)
      .filter((name) => !existsSync(join(folder, dirname(file), name)))
      .map((name) => `${file} refers to ${name}, which the package does not contain`)
    return [...sources, ...missing]
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** Comments may name source files. */
const withoutComments = (code: string): string => code.replaceAll(/^\s*(?:\/\*|\*).*$|(?:^|\s)\/\/.*$/gm, '')
