import { escapeHtml } from '../../base/escape-html.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import type { Random } from '../../base/random.ts'
import { pathOf } from '../family.ts'
import type { Route } from '../route.ts'
import { readConsoleFiles, type ConsoleFile, type ConsoleFiles } from './files.ts'

export type ConsolePageParts = { readonly folder: URL; readonly random: Random }

const segment = (description: string, example: string) => Type.String({ description, examples: [example] })
const Page = Type.Object({ page: segment('A page of the console.', 'requests') })
const PageOf = Type.Object({
  ...Page.properties,
  id: segment('What the page shows.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'),
})
const TabOf = Type.Object({ ...PageOf.properties, tab: segment('A part of it.', 'history') })
const Asset = Type.Object({ file: segment('The file name.', 'index-B1x2.js') })

const html = { 200: { description: 'The console.', contentType: 'text/html', schema: Type.String() } }

/** The console itself: one page at every path below `/console/`, and the files that it loads, all from memory. */
export function consolePageRoutes({ folder, random }: ConsolePageParts): Route[] {
  let files: ConsoleFiles | undefined
  const open = (): ConsoleFiles => (files ??= readConsoleFiles(folder))
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const nonce = Buffer.from(random.bytes(16)).toString('base64')
    const built = open()
    reply.type('text/html; charset=utf-8').headers(pageHeaders(nonce)).header('cache-control', 'no-store')
    if ('problem' in built) return reply.code(503).send(problemPage(built.problem))
    return reply.send(pageAt(built.page, pathOf(request.url), nonce))
  }
  const page = { method: 'GET', credential: 'none', answers: html, handle: sendPage } as const
  return [
    {
      name: 'redirectToConsole',
      method: 'GET',
      path: '/console',
      summary: 'The console',
      credential: 'none',
      answers: { 302: { description: 'Its page.' } },
      handle: async (_request, reply) => reply.code(302).header('location', 'console/').send(),
    },
    { ...page, name: 'getConsole', path: '/console/', summary: 'The start page of the console' },
    { ...page, name: 'getConsolePage', path: '/console/{page}', summary: 'A page of the console', params: Page },
    {
      ...page,
      name: 'getConsoleObject',
      path: '/console/{page}/{id}',
      summary: 'A page of the console about one object',
      params: PageOf,
    },
    {
      ...page,
      name: 'getConsoleTab',
      path: '/console/{page}/{id}/{tab}',
      summary: 'A part of a page of the console',
      params: TabOf,
    },
    {
      name: 'getConsoleAsset',
      method: 'GET',
      path: '/console/assets/{file}',
      summary: 'A file that the console loads',
      credential: 'none',
      params: Asset,
      answers: { 200: { description: 'The file.', contentType: '*/*', schema: Type.String() } },
      errorStatuses: [404],
      async handle(request, reply) {
        const built = open()
        const { file } = request.params as { file: string }
        const asset = 'problem' in built ? undefined : built.assets.get(file)
        if (asset === undefined) throw new Fault('not_found', 'unknown_route', `The console has no file ${file}.`)
        return sendAsset(request, reply, asset)
      },
    },
  ]
}

/** The name of a file contains a hash of its content, so a browser may keep it for ever. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: ConsoleFile): FastifyReply {
  reply
    .type(asset.type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
  const accepted = request.headers['accept-encoding']?.toString() ?? ''
  if (asset.brotli && /\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(asset.brotli)
  if (asset.gzip && /\bgzip\b/.test(accepted)) return reply.header('content-encoding', 'gzip').send(asset.gzip)
  return reply.send(asset.plain)
}

/**
 * The page with a `<base href>` that is relative to its own path. The console then works below any path prefix of a proxy,
 * which the server does not know.
 */
function pageAt(page: string, path: string, nonce: string): string {
  const depth = path.slice('/console/'.length).split('/').length - 1
  const base = depth === 0 ? './' : '../'.repeat(depth)
  return page.replace('<head>', `<head><base href="${base}"><meta property="csp-nonce" nonce="${nonce}">`)
}

const pageHeaders = (nonce: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
})

const problemPage = (problem: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title><h1>The console was not built</h1>
<p>The API works without it. Build it with <code>npm run build:console</code>; the reason was:</p><pre>${escapeHtml(problem)}</pre></html>`
