import { readFileSync } from 'node:fs'
import { endpointsPart, partMark } from '../../src/http/docs/marks.ts'
import type { EndpointFamily } from '../../src/http/route.ts'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { contents, endpointLinks, operationGroups } from './contents.ts'
import { renderMarkdown, type Heading } from './markdown.ts'
import { operation } from './operation.ts'
import { page } from './page.ts'
import { readPages } from './pages.ts'
import { reference } from './reference.ts'
import { searchIndex } from './search-index.ts'

/** The endpoints of a port, by its name. */
export type Port = { readonly name: string; readonly families: readonly EndpointFamily[] }

/** Files by name. Those that `files.json` lists are the same on all ports; the others are read by `src/http/docs/built-docs.ts`. */
export function createSite(ports: readonly Port[]): ReadonlyMap<string, string> {
  const groups = readPages()
  const pages = groups.flatMap((group) => group.pages)
  const rendered = pages.map((each) => ({ page: each, rendered: renderMarkdown(each, pages) }))
  const articles = rendered.map(({ page: { name, title, url }, rendered: { html: body, headings } }) => ({
    url,
    file: `pages/${name}.html`,
    text: page({
      title,
      contents: contents(groups, url, partMark(endpointsPart)),
      body,
      outline: outlineOf(headings),
      className: 'article',
    }),
  }))
  const shared = [...articles, ...assets]
  const described = ports.map(({ name, families }) => ({ name, operations: operationGroups(families) }))
  const everyRoute = described.flatMap(({ operations }) => operations.flatMap((group) => group.routes))
  const routes = new Map(everyRoute.map((route) => [route.name, route]))
  return new Map([
    ['files.json', JSON.stringify(Object.fromEntries(shared.map(({ url, file }) => [url, file])))],
    [
      'operations.json',
      JSON.stringify(Object.fromEntries([...routes].map(([name, route]) => [name, operation(route)]))),
    ],
    ...shared.map(({ file, text }) => [file, text] as const),
    ...described.flatMap(({ name, operations }) => {
      const text = page({
        title: 'API reference',
        contents: contents(groups, '/docs', endpointLinks(operations, true)),
        body: reference(operations, groups),
        className: 'reference',
      })
      return [
        [`ports/${name}/reference.html`, text] as const,
        [`ports/${name}/endpoints.html`, endpointLinks(operations, false)] as const,
        [`ports/${name}/search.json`, JSON.stringify(searchIndex({ operations, pages: rendered }))] as const,
      ]
    }),
  ])
}

const assets = ['style.css', 'page.js', 'icon.svg'].map((name) => ({
  url: `/docs/assets/${name}`,
  file: `assets/${name}`,
  text: readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8'),
}))

const maxOutline = 24

/** The headings of a page, beside its text. A long page shows the upper level only. */
function outlineOf(headings: readonly Heading[]): string {
  const inner = headings.filter(({ depth }) => depth === 2 || depth === 3)
  const shown = inner.length > maxOutline ? inner.filter(({ depth }) => depth === 2) : inner
  const links = shown.map(
    ({ id, title, depth }) => `<li class="level-${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  )
  return links.length < 2 ? '' : `<h2>On this page</h2><ul>${links.join('')}</ul>`
}
