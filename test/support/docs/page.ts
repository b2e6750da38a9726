import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Block = { readonly language: string; readonly text: string }

/** A parsed Markdown page with the parts that tests check. */
export type Page = {
  /** Relative to the root of the project. */
  readonly path: string
  readonly inlineCode: readonly string[]
  readonly blocks: readonly Block[]
  /** Where its links and pictures point. */
  readonly links: readonly string[]
  /** What a link to it may name after `#`. */
  readonly anchors: readonly string[]
  /** Code in the first column of its tables. */
  readonly tableKeys: readonly string[]
}

const fence = /^[ \t]*(`{3,}|~{3,})[ \t]*(\S*)[^\n]*\n([^]*?)^[ \t]*\1[ \t]*$/gm
const inline = /(`+)([^`]|[^`][^]*?[^`])\1(?!`)/g
const link = /\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm

export function readPage(root: string, path: string): Page {
  const whole = readFileSync(join(root, path), 'utf8')
  const prose = whole.replaceAll(fence, '')
  return {
    path,
    blocks: [...whole.matchAll(fence)].map((match) => ({ language: match[2] ?? '', text: match[3] ?? '' })),
    inlineCode: [...prose.matchAll(inline)].map((match) => (match[2] ?? '').trim()),
    links: [...prose.replaceAll(inline, '').matchAll(link)].map((match) => match[1] ?? match[2] ?? ''),
    anchors: anchorsIn(prose),
    tableKeys: [...prose.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] ?? ''),
  }
}

/** Headings become anchors as on GitHub: a repeated one gets a number. */
function anchorsIn(prose: string): string[] {
  const seen = new Map<string, number>()
  const headings = [...prose.matchAll(/^#{1,6}[ \t]+(.+?)[ \t]*#*$/gm)].map((match) => {
    const anchor = anchorOf(match[1] ?? '')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
  const written = [...prose.matchAll(/<a (?:id|name)="([^"]+)"/g)].map((match) => match[1] ?? '')
  return [...headings, ...written]
}

const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
