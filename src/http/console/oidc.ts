import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { minuteMs, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { AuthFailures } from '../../domain/identity/auth-failures.ts'
import {
  IdentityProviderError,
  type IdentityProvider,
  type PendingSignIn,
  type Person,
} from '../../domain/members/identity-provider.ts'
import type { KeyringEncryption } from '../../domain/server-secret/keyring-encryption.ts'
import type { SignInPerson, SignInRefusal } from '../../domain/members/person-sign-in.ts'
import { recordError } from '../request-record.ts'
import type { Route } from '../route.ts'
import {
  checkSecureSignIn,
  endedPendingCookie,
  pendingCookie,
  pendingTextOf,
  sessionCookie,
} from '../session-cookie.ts'
import { createQueryValidator } from '../validate.ts'
import { originOf } from './origin.ts'

export type OidcParts = {
  /** What the button on the sign-in page names. */
  readonly name: string
  readonly provider: IdentityProvider
  readonly signInPerson: SignInPerson
  /** Returns false if the sign-in with this state was finished before, on any node. */
  readonly claimSignIn: (state: string, expiresAtMs: number) => Promise<boolean>
  readonly encryption: Pick<KeyringEncryption, 'encrypt' | 'decrypt'>
  readonly failures: AuthFailures
  readonly clock: Clock
  /** Reports why a sign-in did not succeed, for the log. */
  readonly onRefused: (refused: { readonly requestId: string; readonly reason: string; readonly error: string }) => void
  /** The address of the callback, for a browser that uses the console at this origin. */
  readonly redirectUri: (origin: string) => string
}

/** Why a sign-in did not succeed, as the sign-in page learns it. */
type Reason = SignInRefusal | 'failed' | 'unavailable' | 'too_many' | 'insecure'

/** The page of the console to open after sign-in. It stays below the console, because `Location` begins with a relative path. */
const pagePattern = '^[\\w-]+(?:/[\\w-]+)*(?:\\?[\\w.~%=&+:,-]*)?$'

const StartQuery = Type.Object({
  page: Type.Optional(Type.String({ maxLength: 1000, description: 'The page to open after sign-in.' })),
})

const context = 'pending sign-in'
const pendingMs = 10 * minuteMs

/** Signs a browser in through the identity provider. Browsers open these addresses, so each answer is a redirection. */
export function oidcRoutes(parts: OidcParts | undefined): Route[] {
  const readQuery = createQueryValidator(StartQuery)
  const route = {
    method: 'GET',
    credential: 'none',
    answers: { 302: { description: 'To the identity provider or to the console.' } },
    errorStatuses: [404, 500, 503],
  } as const
  return [
    {
      ...route,
      name: 'startOidcSignIn',
      path: '/console/api/oidc/start',
      summary: 'Sign in through the identity provider',
      query: StartQuery,
      handle: (request, reply) => redirecting(parts, { request, reply }, (oidc) => start(oidc, request, reply)),
    },
    {
      ...route,
      name: 'finishOidcSignIn',
      path: '/console/api/oidc/callback',
      summary: 'The address that the identity provider sends the browser back to',
      handle: (request, reply) => redirecting(parts, { request, reply }, (oidc) => finish(oidc, request, reply)),
    },
  ]

  async function start(oidc: OidcParts, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const { page } = readQuery(request.query)
    const { url, pending } = await oidc.provider.start(oidc.redirectUri(`${request.protocol}://${request.host}`))
    const expiresAtMs = oidc.clock.nowMs() + pendingMs
    const state = oidc.encryption.encrypt(JSON.stringify({ ...pending, page, expiresAtMs }), context)
    reply.header('set-cookie', pendingCookie(request, Buffer.from(state).toString('base64url')))
    return url
  }

  async function finish(oidc: OidcParts, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    reply.header('set-cookie', endedPendingCookie(request))
    const pending = pendingOf(oidc, request)
    // A provider may redeem a code twice, so the cookie and the address of a finished sign-in must not work again.
    if (!(await oidc.claimSignIn(pending.state, pending.expiresAtMs)))
      throw new Refusal('failed', 'the sign-in was finished before', { isAttempt: true })
    const person = await oidc.provider.finish(new URL(request.url, 'http://console').searchParams, pending)
    const outcome = await oidc.signInPerson(person, originOf(request))
    if ('refused' in outcome) throw noAccess(outcome.refused, person)
    reply.header('set-cookie', sessionCookie(request, outcome.token)) // beside the one above
    return `../../${pending.page ?? ''}`
  }
}

/** A sign-in that did not succeed, for the sign-in page and the log. */
class Refusal extends Error {
  readonly reason: Reason
  /**
   * Whether it counts against the address of the browser. Only an answer to a sign-in that this browser began does: every
   * page can send a browser to the callback, and must not shut out its address.
   */
  readonly isAttempt: boolean

  constructor(reason: Reason, message: string, { cause, isAttempt = false }: RefusalOptions = {}) {
    super(message, { cause })
    this.reason = reason
    this.isAttempt = isAttempt
  }
}

type RefusalOptions = { readonly cause?: unknown; readonly isAttempt?: boolean }

const noAccess = (refused: SignInRefusal, { subject, issuer }: Person): Refusal =>
  new Refusal(refused, `${subject} of ${issuer} has no access`, { isAttempt: true })

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Redirects to where `work` says. A sign-in that fails leads to the sign-in page, which names the reason. */
async function redirecting(
  parts: OidcParts | undefined,
  { request, reply }: Exchange,
  work: (oidc: OidcParts) => Promise<string>,
): Promise<FastifyReply> {
  if (parts === undefined) throw new Fault('not_found', 'unknown_route', 'console.oidc is not configured.')
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').code(302)
  try {
    requireSecure(request)
    if (parts.failures.waitSeconds(request.ip) > 0) throw new Refusal('too_many', 'too many failed sign-ins')
    return await reply.header('location', await work(parts)).send()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.isAttempt) parts.failures.add(request.ip)
    parts.onRefused({ requestId: request.id, reason: refusal.reason, error: refusal.message })
    recordError(request, new Fault('auth', 'sign_in_refused', refusal.message, { cause: refusal }))
    return reply.header('location', `../../#refused=${refusal.reason}`).send()
  }
}

function requireSecure(request: FastifyRequest): void {
  try {
    checkSecureSignIn(request)
  } catch (error) {
    throw new Refusal('insecure', 'the sign-in came over plain HTTP', { cause: error })
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof Fault) return new Refusal('unavailable', error.message, { cause: error })
  if (!(error instanceof IdentityProviderError)) throw error
  if (error.reason === 'unreachable') return new Refusal('unavailable', error.message, { cause: error })
  return new Refusal('failed', error.message, { cause: error, isAttempt: true })
}

type Pending = PendingSignIn & { readonly page: string | undefined; readonly expiresAtMs: number }

/** What `start` stored in the cookie. Only this server can have written it. */
function pendingOf({ encryption, clock }: OidcParts, request: FastifyRequest): Pending {
  const stored = pendingTextOf(request)
  if (stored === undefined) throw new Refusal('failed', 'the browser has no pending sign-in')
  const value = decrypted(encryption, stored)
  if (!isPending(value) || value.expiresAtMs <= clock.nowMs())
    throw new Refusal('failed', 'the pending sign-in is no longer valid')
  const { page } = value
  return { ...value, page: page !== undefined && new RegExp(pagePattern).test(page) ? page : undefined }
}

function decrypted(encryption: OidcParts['encryption'], stored: string): unknown {
  try {
    return JSON.parse(encryption.decrypt(Buffer.from(stored, 'base64url'), context))
  } catch (error) {
    throw new Refusal('failed', 'the cookie of the pending sign-in is not of this server', { cause: error })
  }
}

const isPending = (value: unknown): value is Pending =>
  isRecord(value) &&
  ['state', 'nonce', 'codeVerifier', 'redirectUri'].every((name) => typeof value[name] === 'string') &&
  typeof value['expiresAtMs'] === 'number'
