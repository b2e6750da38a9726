import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'

/**
 * Browsers accept the prefix `__Host-` only from HTTPS, for the whole host, and from the host itself, so that a neighbouring
 * host cannot set such a cookie. Plain HTTP is allowed on the machine itself, without the prefix.
 */
type Cookie = { readonly secureName: string; readonly plainName: string; readonly sameSite: 'Strict' | 'Lax' }

const session: Cookie = { secureName: '__Host-gatehouse', plainName: 'gatehouse_console', sameSite: 'Strict' }

/** Lax, because the identity provider sends the browser back from another site. */
const pendingSignIn: Cookie = { secureName: '__Host-gatehouse_oidc', plainName: 'gatehouse_oidc', sameSite: 'Lax' }
const pendingSeconds = 600

/** Browsers send this header only with requests of the console's own pages: another site may not set it. */
const consoleHeader = 'x-gatehouse-console'

/** The token of the session cookie, or undefined. */
export const sessionTokenOf = (request: FastifyRequest): string | undefined => valueOf(request, session)

/** The `Set-Cookie` of a session. It has no expiry: it ends with the browser, or on the server. */
export const sessionCookie = (request: FastifyRequest, token: string): string => cookie(request, session, token)

export const endedSessionCookie = (request: FastifyRequest): string => `${cookie(request, session, '')}; Max-Age=0`

/** The cookie between the start and the end of a sign-in at the identity provider. */
export const pendingTextOf = (request: FastifyRequest): string | undefined => valueOf(request, pendingSignIn)

export const pendingCookie = (request: FastifyRequest, text: string): string =>
  `${cookie(request, pendingSignIn, text)}; Max-Age=${pendingSeconds}`

export const endedPendingCookie = (request: FastifyRequest): string =>
  `${cookie(request, pendingSignIn, '')}; Max-Age=0`

function valueOf({ headers, protocol }: FastifyRequest, { secureName, plainName }: Cookie): string | undefined {
  const name = protocol === 'https' ? secureName : plainName
  for (const pair of headers.cookie?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}

function cookie({ protocol }: FastifyRequest, { secureName, plainName, sameSite }: Cookie, value: string): string {
  const name = protocol === 'https' ? `${secureName}=${value}; Secure` : `${plainName}=${value}`
  return `${name}; HttpOnly; SameSite=${sameSite}; Path=/`
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
