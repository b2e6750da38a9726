import { posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import { codeBlock } from './code.ts'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { anchorLink, plain } from './html.ts'
import type { DocsPage } from './pages.ts'

export type Heading = { readonly id: string; readonly title: string; readonly depth: number }

export type RenderedPage = { readonly html: string; readonly headings: readonly Heading[] }

/** Renders a page. Links to other pages lead to where these are served; links to other files of the repository become text. */
export function renderMarkdown(page: DocsPage, all: readonly DocsPage[]): RenderedPage {
  const headings: Heading[] = []
  const newAnchor = createAnchors()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const title = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        const id = newAnchor(title)
        headings.push({ id, title: title.replaceAll('`', ''), depth })
        const link = depth === 1 ? '' : ` ${anchorLink(id, title)}`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
      },
      code: ({ text, lang }: Tokens.Code): string => codeBlock(text, lang ?? ''),
      link({ href, tokens }: Tokens.Link): string {
        return linkTo(href, this.parser.parseInline(tokens), { page, all })
      },
      table(token: Tokens.Table): string {
        const inner = (cell: Tokens.TableCell): string => this.parser.parseInline(cell.tokens)
        const head = token.header.map((cell) => `<th>${inner(cell)}</th>`)
        // Narrow screens show each row as a list, with the head of the column before each cell.
        const labels = token.header.map(({ text }) => escapeHtml(plain(text)))
        const cells = (row: readonly Tokens.TableCell[]): string =>
          row.map((cell, at) => `<td data-label="${labels[at] ?? ''}">${inner(cell)}</td>`).join('')
        const rows = token.rows.map((row) => `<tr${rowId(row)}>${cells(row)}</tr>`)
        const table = `<table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`
        return `<div class="table" tabindex="0">${table}</div>`
      },
    },
  })
  return { html: marked.parse(page.markdown, { async: false }), headings }

  /** The row of an error code is the target of the error's `doc_url`. */
  function rowId([first]: readonly Tokens.TableCell[]): string {
    const code = /^`([\w-]+)`$/.exec(first?.text ?? '')?.[1]
    return page.name === 'errors' && code !== undefined ? ` id="${code}"` : ''
  }
}

type Origin = { readonly page: DocsPage; readonly all: readonly DocsPage[] }

function linkTo(href: string, html: string, { page, all }: Origin): string {
  if (/^[a-z][a-z+.-]*:/i.test(href)) return `<a href="${escapeHtml(href)}" rel="noreferrer">${html}</a>`
  const [path = '', anchor] = href.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (path.startsWith('/')) return `<a href="${escapeHtml(path)}${hash}">${html}</a>`
  const file = path === '' ? page.file : posix.join(posix.dirname(page.file), path)
  if (file === 'README.md') return `<a href="/docs">${html}</a>`
  const target = all.find((other) => other.file === file)
  if (target !== undefined) return `<a href="${target === page ? '' : target.url}${hash}">${html}</a>`
  const shown = posix.join('docs', file)
  return `<span class="file" title="${escapeHtml(shown)} in the repository">${html}</span>`
}

/** The anchors of headings, as GitHub makes them: a repeated one gets a number. */
function createAnchors(): (title: string) => string {
  const seen = new Map<string, number>()
  return (title) => {
    const anchor = title
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  }
}
