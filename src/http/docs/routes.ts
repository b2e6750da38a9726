import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { escapeHtml } from '../../base/escape-html.ts'
import { Fault } from '../../base/fault.ts'
import type { Route } from '../route.ts'
import { readBuiltDocs } from './built-docs.ts'
import { contentSecurityPolicy, createServedText } from './served-text.ts'

export type DocsParts = {
  /** The built documentation. */
  readonly folder: URL
  /** The name of the port there: each port describes the endpoints that it serves. */
  readonly port: string
  /** The configured address of the service; undefined if callers use the one in their requests. */
  readonly publicUrl: string | undefined
}

/** Everything that is served, by path. */
type Site = ReadonlyMap<string, ReturnType<typeof createServedText>>

const Html = Type.String({ description: 'A page.', examples: ['<!doctype html>\n'] })
const html = { 200: { description: 'A page.', contentType: 'text/html', schema: Html } }
const GuideParams = Type.Object({
  name: Type.String({ description: 'The name of the page.', examples: ['policies'] }),
})
const AssetParams = Type.Object({ file: Type.String({ description: 'The file name.', examples: ['style.css'] }) })

/** The documentation at `/docs`: the reference, generated from the routes, and the guides. Nothing comes from other hosts. */
export function docsRoutes(parts: DocsParts): Route[] {
  const open = siteReader(parts)
  const send = (path: string, request: FastifyRequest, reply: FastifyReply) => {
    const site = open()
    if ('problem' in site) return sendProblem(reply, site.problem)
    const serve = site.get(path)
    if (serve === undefined) throw new Fault('not_found', 'unknown_route', 'There is no such page.')
    return serve(request, reply, parts.publicUrl ?? addressIn(request))
  }
  return [
    {
      name: 'getDocs',
      method: 'GET',
      path: '/docs',
      summary: 'The API reference as a page',
      credential: 'none',
      answers: html,
      handle: async (request, reply) => send('/docs', request, reply),
    },
    {
      name: 'getErrorCodes',
      method: 'GET',
      path: '/docs/errors',
      summary: 'Every error code as a page',
      credential: 'none',
      answers: html,
      handle: async (request, reply) => send('/docs/errors', request, reply),
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
      handle: async (request, reply) => send(`/docs/guide/${nameIn(request)}`, request, reply),
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
      handle: async (request, reply) => send(`/docs/assets/${nameIn(request)}`, request, reply),
    },
  ]
}

/** Reads the built files at the first request. A problem is not kept, so that a later build is found without a restart. */
function siteReader({ folder, port }: DocsParts): () => Site | { readonly problem: string } {
  let site: Site | undefined
  return () => {
    if (site !== undefined) return site
    const built = readBuiltDocs(folder, port)
    if ('problem' in built) return built
    const texts = [...built.texts].map(([path, { type, read }]) => [path, createServedText({ type, read })] as const)
    return (site = new Map(texts))
  }
}

const nameIn = ({ params }: FastifyRequest): string => Object.values(Object(params)).join('/')

/** A host and a port. Other text from the header is not printed. */
const host = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

function addressIn(request: FastifyRequest): string {
  return host.test(request.host) ? `${request.protocol}://${request.host}` : 'http://127.0.0.1:8080'
}

function sendProblem(reply: FastifyReply, problem: string): FastifyReply {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title><h1>The documentation was not built</h1>
<p>The API works without it. Build it with <code>npm run build:docs</code> and load this page again; the reason was:</p><pre>${escapeHtml(problem)}</pre></html>`
  return reply
    .code(503)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', contentSecurityPolicy)
    .send(page)
}
