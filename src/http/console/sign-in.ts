import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import type { Authenticator } from '../../domain/identity/authenticate.ts'
import type { ConsoleSessions } from '../../domain/members/console-sessions.ts'
import type { Route } from '../route.ts'
import {
  checkSameSite,
  checkSecureSignIn,
  endedSessionCookie,
  sessionCookie,
  sessionTokenOf,
} from '../session-cookie.ts'
import { createValidator } from '../validate.ts'
import type { OidcParts } from './oidc.ts'
import { originOf } from './origin.ts'

export type SignInParts = {
  readonly authenticator: Pick<Authenticator, 'administrator'>
  readonly sessions: ConsoleSessions
  /** Undefined if `console.oidc` is not configured. */
  readonly oidc: Pick<OidcParts, 'name'> | undefined
}

const SignInBody = Type.Object(
  {
    key: Type.Optional(Type.String({ maxLength: 200, description: 'An administrator key.' })),
    link: Type.Optional(Type.String({ maxLength: 200, description: 'The token of a one-time link.' })),
  },
  { title: 'SignIn', additionalProperties: false, examples: [{ key: 'adm_…' }] },
)

const SignInWays = Type.Object({
  oidc: Type.Union([
    Type.Object({ name: Type.String({ description: 'The name of the identity provider.' }) }),
    Type.Null(),
  ]),
})

const bodyLimitBytes = 4 * 1024

/** Signs a browser in and out. The session is a cookie that scripts cannot read. */
export function signInRoutes({ authenticator, sessions, oidc }: SignInParts): Route[] {
  const readBody = createValidator(SignInBody)
  return [
    {
      name: 'getSignInWays',
      method: 'GET',
      path: '/console/api/sign_in',
      summary: 'How a browser can sign in',
      credential: 'none',
      answers: { 200: { description: 'Beside keys and links.', schema: SignInWays } },
      handle: async (_request, reply) =>
        reply.header('cache-control', 'no-store').send({ oidc: oidc === undefined ? null : { name: oidc.name } }),
    },
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
