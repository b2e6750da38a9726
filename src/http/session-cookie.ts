import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'

/**
 * The cookie of a console session. Browsers accept the prefix `__Host-` only from HTTPS, for the whole host, and from the
 * host itself, so that a neighbouring host cannot set it. Plain HTTP is allowed on the machine itself, without the prefix.
 */
const secureName = '__Host-gatehouse'
const plainName = 'gatehouse_console'

/** Browsers send this header only with requests of the console's own pages: another site may not set it. */
const consoleHeader = 'x-gatehouse-console'

/** The token of the session cookie, or undefined. */
export function sessionTokenOf({ headers, protocol }: FastifyRequest): string | undefined {
  const name = protocol === 'https' ? secureName : plainName
  for (const pair of headers.cookie?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}

/** The `Set-Cookie` of a session. It has no expiry: it ends with the browser, or on the server. */
export const sessionCookie = (request: FastifyRequest, token: string): string => cookie(request, token)

export const endedSessionCookie = (request: FastifyRequest): string => `${cookie(request, '')}; Max-Age=0`

function cookie({ protocol }: FastifyRequest, value: string): string {
  const name = protocol === 'https' ? `${secureName}=${value}; Secure` : `${plainName}=${value}`
  return `${name}; HttpOnly; SameSite=Strict; Path=/`
}

/** Rejects a change that another site sends with the cookie. Reads have no effect, and other sites cannot see them. */
export function checkSameSite({ method, headers, protocol, host }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD') return
  const site = headers['sec-fetch-site']
  const isSameOrigin = site === undefined ? headers.origin === `${protocol}://${host}` : site === 'same-origin'
  if (isSameOrigin && headers[consoleHeader] === '1') return
  throw new Fault('permission', 'forged_request', 'This change did not come from a page of the console.')
}

/** A session over plain HTTP could be read on its way, so it is limited to the machine itself. */
export function checkSecureSignIn({ protocol, hostname }: FastifyRequest): void {
  if (protocol === 'https' || loopback.test(hostname)) return
  throw new Fault(
    'permission',
    'insecure_sign_in',
    'The console accepts sign-ins over plain HTTP only at 127.0.0.1 and localhost. Use HTTPS: set server.tls, or a proxy with server.trust_proxy.',
  )
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i
