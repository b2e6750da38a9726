import type { SourceFile } from './source-tree.ts'

/** Which module may import which: always downwards. A module that is not listed may not exist. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  main: ['cli', 'config', 'base'],
  cli: ['app', 'config', 'base'],
  app: ['http', 'jobs', 'pipeline', 'adapters', 'domain', 'config', 'base'],
  http: ['pipeline', 'domain', 'wire', 'base'],
  jobs: ['domain', 'base'],
  pipeline: ['domain', 'base'],
  adapters: ['domain', 'wire', 'base'],
  domain: ['base'],
  config: ['wire'],
  wire: [],
  base: [],
}

/** The same for `console/src`. */
const consoleMayImport: Readonly<Record<string, readonly string[]>> = {
  main: ['shell', 'session', 'api', 'words', 'style'],
  shell: ['pages', 'session', 'kit', 'api', 'words', 'style'],
  pages: ['session', 'kit', 'api', 'words', 'style'],
  session: ['kit', 'api', 'words'],
  kit: ['api', 'words', 'style'],
  api: ['words'],
  words: [],
  style: [],
}

/** Modules whose types a module may import, but no values: commands are clients of the API, and know its responses. */
const mayImportTypes: Readonly<Record<string, readonly string[]>> = { cli: ['http'] }

/** Other modules of the domain may import these. These import only `base` and the named ones. */
const groundLayer: Readonly<Record<string, readonly string[]>> = {
  identity: ['mutations', 'server-secret'],
  inference: [],
  mutations: [],
  'server-secret': [],
}

/** Every import goes down the layers, never up, and never out of src. */
export const upwardImports = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to, isType) => {
    if (to === '../package.json') return false
    if (to.startsWith('../') || to.endsWith('.test.ts')) return true
    const [module, target] = [moduleOf(from), moduleOf(to)]
    if (module === target || mayImport[module]?.includes(target)) return false
    return !(isType && mayImportTypes[module]?.includes(target))
  })

/** Imports of the console go down its layers, and a page imports no other page. */
export const consoleBreaches = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    const [module, target] = [moduleOf(from), moduleOf(to)]
    if (module !== target) return !consoleMayImport[module]?.includes(target)
    return innerModuleOf('pages', from) !== innerModuleOf('pages', to)
  })

/** Files outside the known modules. */
export const unknownModules = (tree: readonly SourceFile[]): string[] =>
  tree.map(({ path }) => path).filter((path) => !(moduleOf(path) in mayImport))

/** The modules that all others may import do not import these. */
export const groundBreaches = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    const module = innerModuleOf('domain', from)
    const target = innerModuleOf('domain', to)
    if (module === undefined || target === undefined || target === module) return false
    return groundLayer[module]?.includes(target) === false
  })

/** Parts of the evaluation that do not import one another. What several of them need, such as findings, is below them. */
const evaluationParts = ['scan', 'verdict']

/** `evaluation/scan` and `evaluation/verdict` do not import each other, and the findings import neither. */
export const evaluationTies = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    const part = evaluationPartOf(from)
    const target = evaluationPartOf(to)
    const isBelow = from === 'domain/evaluation/findings.ts'
    const isSeparate = isBelow || (part !== undefined && evaluationParts.includes(part))
    return isSeparate && target !== undefined && target !== part && evaluationParts.includes(target)
  })

/** `scan` of `domain/evaluation/scan/score-policies.ts`. */
const evaluationPartOf = (path: string): string | undefined => innerModuleOf('domain/evaluation', path)

/** Code shared by families is in `http` itself, or in one of these folders. */
const sharedByFamilies = new Set<string | undefined>([undefined, 'inference', 'resources'])

/** An endpoint family imports no other family. */
export const familyTies = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    const family = innerModuleOf('http', from)
    const target = innerModuleOf('http', to)
    return family !== undefined && target !== family && !sharedByFamilies.has(target)
  })

/** `app.ts` and `app/` are one module. */
export const moduleOf = (path: string): string => /^[a-z]+/.exec(path)?.[0] ?? path

/** `messages` of `http/messages/routes.ts`; nothing for a file in the module folder itself. */
export const innerModuleOf = (module: string, path: string): string | undefined =>
  path.startsWith(`${module}/`) && path.slice(module.length + 1).includes('/')
    ? path.slice(module.length + 1).split('/')[0]
    : undefined

type IsBreach = (from: string, to: string, isType: boolean) => boolean

function breachesOf(tree: readonly SourceFile[], isBreach: IsBreach): string[] {
  return tree.flatMap(({ path, imports, typeImports }) =>
    imports
      .filter((target) => isBreach(path, target, typeImports.includes(target)))
      .map((target) => `${path} -> ${target}`),
  )
}
