import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

export type SourceFile = {
  /** Relative to the root of the tree, with `/`. */
  readonly path: string
  readonly text: string
  /** Imported files of the project, relative to the same root; files outside the tree start with `..`. */
  readonly imports: readonly string[]
  /** Those of them of which only types are imported. */
  readonly typeImports: readonly string[]
  /** Everything else that is imported: packages and Node's own modules. */
  readonly packages: readonly string[]
}

/** Every TypeScript file below the folder except tests, with its imports. */
export function readSourceTree(root: string): SourceFile[] {
  const files = globSync('**/*.{ts,tsx}', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  return files
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
    .map((path) => readSource(root, path))
}

function readSource(root: string, path: string): SourceFile {
  const text = readFileSync(posix.join(root, path), 'utf8')
  const specifiers = specifiersIn(text)
  const values = specifiersIn(text.replace(/^(?:import|export) type\b[^;=]*?\bfrom\b/gm, ''))
  const resolved = (specifier: string): string => posix.join(posix.dirname(path), specifier)
  const files = specifiers.filter(isProjectFile)
  return {
    path,
    text,
    imports: files.map(resolved),
    typeImports: files.filter((specifier) => !values.includes(specifier)).map(resolved),
    packages: specifiers.filter((specifier) => !isProjectFile(specifier)),
  }
}

const isProjectFile = (specifier: string): boolean => /^\.|\.tsx?$/.test(specifier)

/** Includes type imports, because files with circular types cannot be understood separately either. */
function specifiersIn(text: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^'"`;=]*?\bfrom\s*'([^']+)'/gm, // import … from, export … from
    /^import\s*'([^']+)'/gm,
    /\bimport\(\s*'([^']+)'/g, // at run time, and in types
    /\bnew URL\(\s*'([^']+\.ts)',\s*import\.meta\.url/g, // workers
  ]
  const imported = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''))
  return [...new Set(imported)]
}
