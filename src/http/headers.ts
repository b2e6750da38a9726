import type { IncomingMessage } from 'node:http'
import { Fault } from '../base/fault.ts'
import { HttpFault } from './fault-headers.ts'

/** Headers that decide on the caller and on how the body is read. A repeated one is an attack or a bug, so it is rejected. */
const single = new Set([
  'authorization',
  'x-api-key',
  'content-type',
  'content-length',
  'host',
  'idempotency-key',
  'x-free-tier',
  'x-policy-id',
])

export function headerFault(request: IncomingMessage): Fault | undefined {
  const { rawHeaders, headers, httpVersion } = request
  if (headers.host === undefined && httpVersion === '1.1')
    return new Fault('malformed', 'invalid_header', 'The header host is missing.')
  let seen: Set<string> | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (!single.has(name)) continue
    seen ??= new Set()
    if (seen.has(name)) return new Fault('malformed', 'invalid_header', `The header ${name} was sent twice.`)
    seen.add(name)
  }
  return undefined
}

/**
 * Rejects a WebSocket. Codex tries one first, and falls back to plain HTTP at this status only. Other protocols, such as the
 * `h2c` that Java's client offers, are ignored, because their clients continue without them.
 */
export function upgradeFault({ headers: { upgrade } }: IncomingMessage): Fault | undefined {
  if (upgrade === undefined || !/\bwebsocket\b/i.test(upgrade)) return undefined
  const message =
    'This server has no WebSocket endpoints. Use plain HTTP; responses are streamed as server-sent events.'
  const fault = { kind: 'malformed', code: 'upgrade_not_supported', message } as const
  return new HttpFault(fault, { upgrade: 'HTTP/1.1', connection: 'close' }, 426)
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The credential of a request. `Authorization` takes precedence over `x-api-key`, even if it is invalid. */
export function secretOf(headers: Headers): string | undefined {
  const { authorization } = headers
  if (typeof authorization === 'string') return bearerOf(authorization)
  const key = headers['x-api-key']
  return typeof key === 'string' && key !== '' ? key : undefined
}

export function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [scheme = '', token = ''] = authorization.split(/ +/, 2)
  // An unknown scheme is an invalid credential, not a missing one.
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : authorization
}

export const hasBearer = (authorization: string): boolean => /^bearer +\S/i.test(authorization)

/** Whether `X-Free-Tier` requests the free request. The only allowed value is `true`. */
export function isFreeTierRequest(headers: Headers): boolean {
  const value = headers['x-free-tier']
  if (value === undefined) return false
  if (value === 'true') return true
  throw new Fault('malformed', 'invalid_header', 'X-Free-Tier: the only allowed value is true.', {
    param: 'X-Free-Tier',
  })
}
