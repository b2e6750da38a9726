import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import type { EndpointFamily, Route } from '../route.ts'
import { contents, operationGroups } from './contents.ts'
import { renderMarkdown, type Heading } from './markdown.ts'
import { page } from './page.ts'
import { readPages } from './pages.ts'
import { reference } from './reference.ts'
import { searchIndex } from './search-index.ts'
import { createServedText } from './served-text.ts'
import { escapeHtml } from '../../base/escape-html.ts'

export type DocsParts = {
  readonly families: () => readonly EndpointFamily[]
  /** The configured address of the service; undefined if callers use the one in their requests. */
  readonly publicUrl: string | undefined
}

type Serve = ReturnType<typeof createServedText>

const Html = Type.String({ description: 'A page.', examples: ['<!doctype html>\n'] })
const html = { 200: { description: 'A page.', contentType: 'text/html', schema: Html } }
const GuideParams = Type.Object({
  name: Type.String({ description: 'The name of the page.', examples: ['policies'] }),
})
const AssetParams = Type.Object({ file: Type.String({ description: 'The file name.', examples: ['style.css'] }) })

/** The documentation at `/docs`: the reference, generated from the routes, and the guides. Nothing comes from other hosts. */
export function docsRoutes({ families, publicUrl }: DocsParts): Route[] {
  let site: Site | undefined
  const open = (): Site => (site ??= createSite(families()))
  const send = (serve: Serve | undefined, request: FastifyRequest, reply: FastifyReply) => {
    if (serve === undefined) throw new Fault('not_found', 'unknown_route', 'There is no such page.')
    return serve(request, reply, publicUrl ?? addressIn(request))
  }
  return [
    {
      name: 'getDocs',
      method: 'GET',
      path: '/docs',
      summary: 'The API reference as a page',
      credential: 'none',
      answers: html,
      handle: (request, reply) => send(open().get('/docs'), request, reply),
    },
    {
      name: 'getErrorCodes',
      method: 'GET',
      path: '/docs/errors',
      summary: 'Every error code as a page',
      credential: 'none',
      answers: html,
      handle: (request, reply) => send(open().get('/docs/errors'), request, reply),
    },
    {
      name: 'getGuide',
      method: 'GET',
      path: '/docs/guide/{name}',
      summary: 'A guide as a page',
      credential: 'none',
      params: GuideParams,
      answers: html,
      errorStatuses: [404],
      handle: (request, reply) => send(open().get(`/docs/guide/${nameIn(request)}`), request, reply),
    },
    {
      name: 'getDocsAsset',
      method: 'GET',
      path: '/docs/assets/{file}',
      summary: 'A file that the pages load',
      credential: 'none',
      params: AssetParams,
      answers: {
        200: {
          description: 'The style, the script, the icon or the search index.',
          contentType: '*/*',
          schema: Type.String(),
        },
      },
      errorStatuses: [404],
      handle: (request, reply) => send(open().get(`/docs/assets/${nameIn(request)}`), request, reply),
    },
  ]
}

const nameIn = ({ params }: FastifyRequest): string => Object.values(Object(params)).join('/')

/** A host and a port. Other text from the header is not printed. */
const host = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

function addressIn(request: FastifyRequest): string {
  return host.test(request.host) ? `${request.protocol}://${request.host}` : 'http://127.0.0.1:8080'
}

/** Everything that is served, by path. */
type Site = ReadonlyMap<string, Serve>

const asset = (name: string): string => readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')

function createSite(families: readonly EndpointFamily[]): Site {
  const operations = operationGroups(families)
  const groups = readPages()
  const pages = groups.flatMap((group) => group.pages)
  const htmlText = (render: () => string): Serve => createServedText({ type: 'text/html; charset=utf-8', render })
  const contentsAt = (url: string): string => contents(operations, groups, url)
  const rendered = () => pages.map((each) => ({ page: each, rendered: renderMarkdown(each, pages) }))
  return new Map<string, Serve>([
    [
      '/docs',
      htmlText(() =>
        page({
          title: 'API reference',
          contents: contentsAt('/docs'),
          body: reference(operations, groups),
          className: 'reference',
        }),
      ),
    ],
    ...pages.map((each): [string, Serve] => [each.url, htmlText(() => article(each.url))]),
    ['/docs/assets/style.css', createServedText({ type: 'text/css; charset=utf-8', render: () => asset('style.css') })],
    [
      '/docs/assets/page.js',
      createServedText({ type: 'text/javascript; charset=utf-8', render: () => asset('page.js') }),
    ],
    ['/docs/assets/icon.svg', createServedText({ type: 'image/svg+xml', render: () => asset('icon.svg') })],
    [
      '/docs/assets/search.json',
      createServedText({
        type: 'application/json; charset=utf-8',
        render: () => JSON.stringify(searchIndex({ operations, pages: rendered() })),
      }),
    ],
  ])

  function article(url: string): string {
    const own = pages.find((each) => each.url === url)
    if (own === undefined) throw new Fault('not_found', 'unknown_route', 'There is no such page.')
    const { html: body, headings } = renderMarkdown(own, pages)
    const outline = outlineOf(headings)
    return page({ title: own.title, contents: contentsAt(url), body, outline, className: 'article' })
  }
}

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
