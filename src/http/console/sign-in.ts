import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import type { Authenticator } from '../../domain/identity/authenticate.ts'
import type { ConsoleSessions, SessionOrigin } from '../../domain/identity/console-sessions.ts'
import { pathOf } from '../family.ts'
import type { Route } from '../route.ts'
import {
  checkSameSite,
  checkSecureSignIn,
  endedSessionCookie,
  sessionCookie,
  sessionTokenOf,
} from '../session-cookie.ts'
import { createValidator } from '../validate.ts'

export type SignInParts = {
  readonly authenticator: Pick<Authenticator, 'administrator'>
  readonly sessions: ConsoleSessions
}

const SignInBody = Type.Object(
  {
    key: Type.Optional(Type.String({ maxLength: 200, description: 'An administrator key.' })),
    link: Type.Optional(Type.String({ maxLength: 200, description: 'The token of a one-time link.' })),
  },
  { title: 'SignIn', additionalProperties: false, examples: [{ key: 'adm_…' }] },
)

const bodyLimitBytes = 4 * 1024

/** Signs a browser in and out. The session is a cookie that scripts cannot read. */
export function signInRoutes({ authenticator, sessions }: SignInParts): Route[] {
  const readBody = createValidator(SignInBody)
  return [
    {
      name: 'signIn',
      method: 'POST',
      path: '/console/api/sign_in',
      summary: 'Sign a browser in',
      description:
        'With an administrator key or a one-time link. Sets a cookie that counts as this key at `/v1/organization` and `/api/policy-gateway`, and never at inference endpoints.',
      credential: 'none',
      bodyLimitBytes,
      body: SignInBody,
      answers: { 204: { description: 'Signed in.' } },
      errorStatuses: [400, 401, 403, 413, 422, 429, 500, 503],
      async handle(request, reply) {
        checkSameSite(request)
        checkSecureSignIn(request)
        const { key, link } = readBody(request.body)
        if ((key === undefined) === (link === undefined))
          throw new Fault('validation', 'invalid_parameter', 'Send either key or link.', { param: 'key' })
        const origin = originOf(request)
        const token =
          link === undefined
            ? await sessions.start(await authenticator.administrator(key, request.ip), origin)
            : await sessions.startWithLink(link, origin)
        return reply.code(204).header('set-cookie', sessionCookie(request, token)).send()
      },
    },
    {
      name: 'signOut',
      method: 'POST',
      path: '/console/api/sign_out',
      summary: 'Sign a browser out',
      description: 'Ends the session of the cookie on the server.',
      credential: 'none',
      bodyLimitBytes,
      answers: { 204: { description: 'Signed out.' } },
      errorStatuses: [403, 500, 503],
      async handle(request, reply) {
        checkSameSite(request)
        const token = sessionTokenOf(request)
        if (token !== undefined) await sessions.end(token, originOf(request))
        return reply.code(204).header('set-cookie', endedSessionCookie(request)).send()
      },
    },
  ]
}

const originOf = (request: FastifyRequest): SessionOrigin => ({
  requestId: request.id,
  call: {
    method: request.method,
    path: pathOf(request.url),
    address: request.ip,
    userAgent: request.headers['user-agent'],
  },
})
