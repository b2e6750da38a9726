import type { FastifyRequest } from 'fastify'
import { isPromise, type MaybePromise } from '../base/maybe-promise.ts'
import { Fault, toFault } from '../base/fault.ts'
import type { Authenticator } from '../domain/identity/authenticate.ts'
import type { ConsoleSessions } from '../domain/members/console-sessions.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import type { Administrator, Caller, Principal } from '../domain/identity/principal.ts'
import { bearerOf, hasBearer, secretOf, isFreeTierRequest } from './headers.ts'
import type { Credential } from './route.ts'
import { checkSameSite, sessionTokenOf } from './session-cookie.ts'

/** Authenticates a request by the credentials that its endpoint accepts. */
export type CallerOf = {
  principal(request: FastifyRequest): MaybePromise<Principal>
  /** Also accepts the anonymous free request, if no credential was sent. */
  principalOrFree(request: FastifyRequest): MaybePromise<Caller>
  administrator(request: FastifyRequest): MaybePromise<Administrator>
  /** For the policy gateway: an administrator key, a project API key or a token. */
  manager(request: FastifyRequest): MaybePromise<Administrator | Principal>
  /** The functions above by the `credential` of a route. Routes without an entry authenticate in their handler. */
  readonly identify: Readonly<Partial<Record<Credential, (request: FastifyRequest) => MaybePromise<unknown>>>>
}

export type CallerOfParts = {
  readonly authenticator: Authenticator
  readonly freeRequests: FreeRequests
  /** Undefined if the console is off. */
  readonly sessions: Pick<ConsoleSessions, 'administrator'> | undefined
}

/** The prefix of administrator keys, and of no other credential. */
const administratorPrefix = 'adm_'

/** Authenticates each request once: the result is cached in `request.record`. */
export function createCallerOf({ authenticator, freeRequests, sessions }: CallerOfParts): CallerOf {
  const principal = (request: FastifyRequest): MaybePromise<Principal> => {
    const { record } = request
    if (record?.principal !== undefined) return record.principal
    try {
      const actor = authenticator.principal(secretOf(request.headers), request.ip)
      const checked = isPromise(actor) ? actor.then((it) => checkProject(request, it)) : checkProject(request, actor)
      if (record) record.principal = checked
      return checked
    } catch (error) {
      if (record) record.principal = rejected(toFault(error))
      throw error
    }
  }
  const principalOrFree = (request: FastifyRequest): MaybePromise<Caller> => {
    const isFree = isFreeTierRequest(request.headers) && secretOf(request.headers) === undefined
    return isFree ? freeRequests.identify(request.ip) : principal(request)
  }
  const administrator = (request: FastifyRequest): MaybePromise<Administrator> => {
    const { record } = request
    if (record?.administrator !== undefined) return record.administrator
    try {
      const actor = administratorOf(request)
      const cached = isPromise(actor) ? actor.then((it) => setActor(request, it)) : setActor(request, actor)
      if (record) record.administrator = cached
      return cached
    } catch (error) {
      if (record) record.administrator = rejected(toFault(error))
      throw error
    }
  }
  /** A session counts only if the request has no key. */
  const administratorOf = (request: FastifyRequest): MaybePromise<Administrator> => {
    const token = sessionOf(request)
    if (sessions === undefined || token === undefined) {
      requireBearer(request.headers.authorization)
      return authenticator.administrator(bearerOf(request.headers.authorization), request.ip)
    }
    checkSameSite(request)
    return sessions.administrator(token, request.ip)
  }
  const manager = (request: FastifyRequest): MaybePromise<Administrator | Principal> => {
    const isAdministrator = bearerOf(request.headers.authorization)?.startsWith(administratorPrefix)
    const hasSession = sessions !== undefined && sessionOf(request) !== undefined
    return isAdministrator || hasSession ? administrator(request) : principal(request)
  }
  return {
    principal,
    principalOrFree,
    administrator,
    manager,
    identify: { api_key: principal, api_key_or_free: principalOrFree, admin_key: administrator, gateway: manager },
  }
}

/** Administrator keys are sent as the API describes it: with the scheme. Thrown without a look at the key. */
function requireBearer(authorization: string | undefined): void {
  if (authorization === undefined || hasBearer(authorization)) return
  const message = 'The scheme Bearer is missing. Send the key as: Authorization: Bearer adm_…'
  throw new Fault('auth', 'invalid_api_key', message, { credential: 'invalid' })
}

/** The token of a session, if the request has no other credential. */
const sessionOf = (request: FastifyRequest): string | undefined =>
  secretOf(request.headers) === undefined ? sessionTokenOf(request) : undefined

/** The thrown fault for the cache. The rejection is handled here, because the cached promise may never be awaited. */
function rejected(fault: Fault): Promise<never> {
  const rejection = Promise.reject(fault)
  rejection.catch(() => {})
  return rejection
}

/** A key is valid for its own project only. */
function checkProject(request: FastifyRequest, actor: Principal): Principal {
  setActor(request, actor)
  checkProjectHeader(request, actor.projectId)
  return actor
}

/** `X-Policy-Project` may only repeat the project of the caller. */
export function checkProjectHeader({ headers }: FastifyRequest, projectId: string): void {
  const project = headers['x-policy-project']
  if (project === undefined || project === projectId) return
  throw new Fault('permission', 'project_mismatch', 'X-Policy-Project names another project than the key’s own.', {
    param: 'X-Policy-Project',
  })
}

function setActor<Actor extends Administrator | Principal>({ record }: FastifyRequest, actor: Actor): Actor {
  if (record) record.actor = actor
  return actor
}
