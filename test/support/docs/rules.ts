import { existsSync, globSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'
import type { Page } from './page.ts'
import type { Project } from './project.ts'

const topFolder = /^(src|test|docs|migrations|console|bench|scripts|deploy|\.ci)\//
const sourceFile = /\.(ts|mjs|sql|md)$/
const shell = ['', 'text', 'sh', 'bash', 'shell', 'console']

/** Paths in code that do not exist. `<name>` and `*` match any name, but at least one path must match. */
export const deadPaths = (project: Project): string[] =>
  onEachPage(project, (page) => {
    const drawings = page.blocks.filter(({ language }) => language === '' || language === 'text')
    const words = [
      ...page.inlineCode.flatMap(wordsOf),
      ...drawings.flatMap(({ text }) => wordsOf(text)).filter((word) => sourceFile.test(word)),
    ]
    return words.filter((word) => isPath(word) && !leadsSomewhere(project, page, word))
  })

/** Scripts of npm and commands of gatehouse that do not exist. */
export const deadCommands = ({ pages, scripts, commands }: Project): string[] =>
  onEachPage({ pages }, ({ inlineCode, blocks }) => {
    const typed = blocks.filter(({ language }) => shell.includes(language)).map(({ text }) => text)
    return [...inlineCode, ...typed].flatMap((code) => [
      ...namesIn(code, npmCall).filter((name) => !scripts.has(name)),
      ...namesIn(code, gatehouseCall).filter((name) => !commands.has(name)),
    ])
  })

const npmCall = /\bnpm run ([\w:-]+)|\bnpm (start|test)\b/g
const gatehouseCall =
  /(?:^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*gatehouse|\bnode src\/main\.ts|\bnpx gatehouse|\bnpm run gatehouse --) +([a-z][a-z-]*)/gm

const namesIn = (code: string, call: RegExp): string[] =>
  [...code.matchAll(call)].map((match) => match[1] ?? match[2] ?? '')

/** Links to missing files or anchors. */
export const deadLinks = (project: Project): string[] =>
  onEachPage(project, (page) =>
    page.links.filter((link) => {
      if (/^[a-z][a-z+.-]*:/i.test(link)) return false // an external link
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? page.path : join(dirname(page.path), decodeURIComponent(path))
      if (!existsSync(join(project.root, file))) return true
      const target = project.pages.find((other) => other.path === file)
      return anchor !== undefined && target !== undefined && !target.anchors.includes(anchor)
    }),
  )

/** Dependencies without an entry on the page of reasons, and entries without a dependency. */
export function unexplained({ pages, dependencies }: Project, reasons: string): string[] {
  const explained = pages.find(({ path }) => path === reasons)?.tableKeys ?? []
  return [
    ...dependencies.filter((name) => !explained.includes(name)).map((name) => `${name} is not explained`),
    ...explained.filter((name) => !dependencies.includes(name)).map((name) => `${name} is gone`),
  ]
}

function onEachPage({ pages }: Pick<Project, 'pages'>, find: (page: Page) => readonly string[]): string[] {
  return pages.flatMap((page) => [...new Set(find(page))].map((breach) => `${page.path}: ${breach}`))
}

/** Line numbers and anchors after a path are not part of it. */
const wordsOf = (code: string): string[] => code.split(/[\s,;()]+/).map((word) => word.replace(/[:#].*$/, ''))

const isPath = (word: string): boolean => topFolder.test(word) || (sourceFile.test(word) && /^[\w.<*]/.test(word))

function leadsSomewhere({ root, fileNames }: Project, page: Page, word: string): boolean {
  const pattern = word.replaceAll(/<[^>]*>/g, '*')
  if (!word.includes('/')) return [...fileNames].some((name) => matchesGlob(name, pattern))
  const starts = topFolder.test(word) ? [''] : ['', 'src', 'test', dirname(page.path)]
  return starts.some((start) => globSync(join(start, pattern), { cwd: root }).length > 0)
}
