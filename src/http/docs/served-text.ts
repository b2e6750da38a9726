import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml } from '../../base/escape-html.ts'
import type { BuiltText } from './built-docs.ts'
import { baseUrlMark } from './marks.ts'

/** A text in the form in which it is sent. */
type Version = { readonly text: string; readonly etag: string; compressed?: Promise<Buffer> }

/** Readers use few addresses. Further ones are served without a cache, so that invented host names fill no memory. */
const maxVersions = 8

const compress = promisify(gzip)

/** Sends a text with the address that the reader uses, with an ETag, and compressed if the client accepts that. */
export function createServedText({ type, read }: BuiltText) {
  const versions = new Map<string, Version>()

  function versionFor(baseUrl: string): Version {
    const known = versions.get(baseUrl)
    if (known !== undefined) return known
    const text = read().replaceAll(baseUrlMark, escapeHtml(baseUrl))
    const version = { text, etag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` }
    if (versions.size < maxVersions) versions.set(baseUrl, version)
    return version
  }

  return async (request: FastifyRequest, reply: FastifyReply, baseUrl: string): Promise<FastifyReply> => {
    const version = versionFor(baseUrl)
    reply
      .type(type)
      .header('etag', version.etag)
      .header('cache-control', 'no-cache')
      .header('vary', 'accept-encoding')
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
    if (request.headers['if-none-match']?.includes(version.etag) === true) return reply.code(304).send()
    if (!acceptsGzip(request) || versions.get(baseUrl) !== version) return reply.send(version.text)
    version.compressed ??= compress(version.text)
    return reply.header('content-encoding', 'gzip').send(await version.compressed)
  }
}

export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i.test(headers['accept-encoding']?.toString() ?? '')
